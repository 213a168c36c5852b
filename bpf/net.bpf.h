/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Connections, bound addresses and datagram destinations. The address goes to
 * the record as the kernel copied it; user space takes it apart.
 */
#ifndef BPF_NET_H
#define BPF_NET_H

#include "record.bpf.h"

#define AF_UNSPEC 0
#define AF_INET	  2
#define AF_INET6  10

#define SOCK_STREAM 1
#define SOCK_RAW    3

struct peer {
	__u16 family, type, protocol; /* of the socket */
	__u32 kind;		      /* EV_CONNECT, EV_BIND, EV_SEND */
	__u32 flags;		      /* EV_F_UNPROVEN: addr is in user memory */
	__u32 len;		      /* longer than any sockaddr: cut, counted */
	__u64 addr;
};

void send_peer(const struct peer *p);

#endif
