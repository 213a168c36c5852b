/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Tier trace: addresses of the families and kinds of socket that have no
 * cgroup program. They are read from user memory once more (EV_F_UNPROVEN).
 */
#include "call.bpf.h"
#include "net.bpf.h"

#define S_IFSOCK 0140000

#define MAX_MESSAGES 1024 /* the kernel's limit for sendmmsg */

/* Of the families and kinds that the cgroup programs do not see. */
static __always_inline bool see_socket(int fd, struct peer *p)
{
	struct file *file = file_of(fd);
	struct socket *sock;

	if (!file || (BPF_CORE_READ(file, f_inode, i_mode) & S_IFMT) != S_IFSOCK)
		return false;
	sock = BPF_CORE_READ(file, private_data);
	p->type = BPF_CORE_READ(sock, type);
	p->protocol = BPF_CORE_READ(sock, sk, sk_protocol);
	p->family = BPF_CORE_READ(sock, sk, __sk_common.skc_family);
	return (p->family != AF_INET && p->family != AF_INET6) || p->type == SOCK_RAW;
}

static __always_inline bool is_unspec(const struct peer *p)
{
	__u16 family = 0;

	return !bpf_probe_read_user(&family, sizeof(family), (void *)p->addr) &&
	       family == AF_UNSPEC;
}

FAMILY(net)
{
	struct peer p = { .kind = a->row.kind, .flags = EV_F_UNPROVEN };

	p.addr = arg(a, a->row.str);
	p.len = arg(a, a->row.arg);
	if (!p.addr || !see_socket(arg(a, a->row.fd), &p))
		return;
	if (p.kind == EV_CONNECT && is_unspec(&p))
		return;
	if (p.kind != EV_SEND || p.type != SOCK_STREAM)
		send_peer(&p);
}

/* The beginnings of struct msghdr and the length of struct mmsghdr in user memory. */
struct user_msg {
	__u64 name;
	__u32 namelen;
};
#define USER_MMSG_BYTES 64

struct msg_walk {
	struct peer *p;
	__u64 at;
	__u32 left;
};

static long send_message(__u32 i, struct msg_walk *w)
{
	struct user_msg msg = {};

	if (i >= w->left)
		return 1;
	if (bpf_probe_read_user(&msg, sizeof(msg), (void *)(w->at + i * USER_MMSG_BYTES))) {
		count_loss(EV_LOSS_FAULT, EV_CLASS_NET, 1);
		return 0;
	}
	w->p->addr = msg.name;
	w->p->len = msg.namelen;
	if (msg.name)
		send_peer(w->p);
	return 0;
}

FAMILY(msg)
{
	struct peer p = { .kind = EV_SEND, .flags = EV_F_UNPROVEN };
	struct msg_walk w = { .p = &p, .at = arg(a, a->row.str) };

	w.left = a->row.arg == NO ? 1 : ret;
	if (see_socket(arg(a, a->row.fd), &p) && p.type != SOCK_STREAM)
		bpf_loop(MAX_MESSAGES, send_message, &w, 0);
}
