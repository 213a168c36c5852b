/* SPDX-License-Identifier: MIT */
/* Socket addresses as the kernel copied them, made into text. */
#ifndef EVENT_PEER_H
#define EVENT_PEER_H

#include "base/buf.h"
#include "base/cur.h"

struct peer {
	uint16_t family, type, protocol; /* of the socket */
	uint32_t port;
	bool has_addr, has_port;
};

/*
 * Appends the protocol's word to `proto` ("tcp", "unix", "family 38") and the
 * address to `addr`: inet text (IPv4 in IPv6 is shown as IPv4), a unix path, or
 * @ and the bytes of an abstract name. -EBADMSG: shorter than its family needs.
 */
int peer_parse(struct peer *p, struct cur sockaddr, struct buf *proto, struct buf *addr);

#endif
