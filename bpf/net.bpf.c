/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Network: the body, the socket hooks of tiers lsm and fmod, and the cgroup
 * programs of tier trace, which see inet sockets made inside the target's
 * cgroup.
 */
#include "net.bpf.h"

#include "config.bpf.h"
#include "hook.bpf.h"
#include "judge.bpf.h"
#include "subject.bpf.h"

#define MSG_FASTOPEN 0x20000000

static __always_inline __u32 bounded(const struct peer *p)
{
	if (p->len <= EV_ADDR_BYTES)
		return p->len;
	count_loss(EV_LOSS_CUT, EV_CLASS_NET, 1);
	return EV_ADDR_BYTES;
}

static __always_inline bool copy_address(struct scratch *s, const struct peer *p, __u32 len)
{
	void *to = s->rec + sizeof(s->net);

	if (p->flags & EV_F_UNPROVEN)
		return bpf_probe_read_user(to, len, (void *)p->addr) == 0;
	return bpf_probe_read_kernel(to, len, (void *)p->addr) == 0;
}

__hidden void send_peer(const struct peer *p)
{
	__u32 len = bounded(p);
	struct scratch *s;

	s = rec_new(CONNECT, ev_net);
	if (!s)
		return;
	s->head.kind = p->kind;
	s->head.flags = p->flags;
	s->net.family = p->family;
	s->net.type = p->type;
	s->net.protocol = p->protocol;
	barrier_var(len);
	if (len > EV_ADDR_BYTES || !copy_address(s, p, len)) {
		count_loss(EV_LOSS_FAULT, EV_CLASS_NET, 1);
		len = 0;
	}
	s->net.addr.len = len;
	s->pos += len;
	rec_send(s);
}

/* ---- tiers lsm and fmod --------------------------------------------------- */

static __always_inline void see_socket(struct socket *sock, struct peer *p)
{
	p->type = sock->type;
	p->family = BPF_CORE_READ(sock, sk, __sk_common.skc_family);
	p->protocol = BPF_CORE_READ(sock, sk, sk_protocol);
}

static __always_inline int on_address(__u32 kind, struct socket *sock, struct sockaddr *addr,
				      int len)
{
	struct peer p = { .kind = kind, .addr = (__u64)addr, .len = len };

	if (!subject())
		return 0;
	if (kind == EV_CONNECT && addr->sa_family == AF_UNSPEC)
		return 0; /* takes a connection back */
	if (kind == EV_CONNECT && sock->state == SS_CONNECTING)
		return 0; /* asks how far it is; io_uring's second try */
	see_socket(sock, &p);
	send_peer(&p);
	return to_errno(kind == EV_CONNECT && is_canary());
}

/* A stream has its destination from connect, unless the first bytes connect it. */
static __always_inline int on_send(struct socket *sock, struct msghdr *msg)
{
	struct peer p = { .kind = EV_SEND };

	if (!msg->msg_name || !subject())
		return 0;
	see_socket(sock, &p);
	if (msg->msg_flags & MSG_FASTOPEN)
		p.kind = EV_CONNECT;
	else if (p.type == SOCK_STREAM)
		return 0;
	p.addr = (__u64)msg->msg_name;
	p.len = msg->msg_namelen;
	send_peer(&p);
	return 0;
}

HOOK(socket_connect, on_address(EV_CONNECT, sock, addr, len), struct socket *sock,
     struct sockaddr *addr, int len)
HOOK(socket_bind, on_address(EV_BIND, sock, addr, len), struct socket *sock, struct sockaddr *addr,
     int len)
HOOK(socket_sendmsg, on_send(sock, msg), struct socket *sock, struct msghdr *msg, int size)

/* ---- tier trace ----------------------------------------------------------- */

struct sockaddr_in {
	__u16 family;
	__u16 port; /* network order, as all below */
	__u32 addr;
	__u64 zero;
};

struct sockaddr_in6 {
	__u16 family;
	__u16 port;
	__u32 flowinfo;
	__u32 addr[4];
	__u32 scope_id;
};

static __always_inline bool is_ours(void)
{
	struct task_struct *task = bpf_get_current_task_btf();
	struct subject *s;

	if (!task->bpf_storage)
		return false;
	if (!cfg_cg_storage)
		return true;
	s = bpf_task_storage_get(&subjects, task, NULL, 0);
	return s && is_marked(s);
}

static __always_inline struct scratch *new_inet(struct bpf_sock_addr *ctx, __u32 kind, __u32 len)
{
	struct scratch *s = rec_new(CONNECT, ev_net);

	if (!s)
		return NULL;
	s->head.kind = kind;
	s->net.family = ctx->family;
	s->net.type = ctx->type;
	s->net.protocol = ctx->protocol;
	s->net.addr.len = len;
	s->pos += len;
	return s;
}

static __always_inline void send_inet4(struct bpf_sock_addr *ctx, __u32 kind)
{
	struct sockaddr_in *in;
	struct scratch *s = new_inet(ctx, kind, sizeof(*in));

	if (!s)
		return;
	in = (void *)(s->rec + sizeof(s->net));
	in->family = AF_INET;
	in->port = ctx->user_port;
	in->addr = ctx->user_ip4;
	in->zero = 0;
	rec_send(s);
}

static __always_inline void send_inet6(struct bpf_sock_addr *ctx, __u32 kind)
{
	struct sockaddr_in6 *in;
	struct scratch *s = new_inet(ctx, kind, sizeof(*in));

	if (!s)
		return;
	in = (void *)(s->rec + sizeof(s->net));
	in->family = AF_INET6;
	in->port = ctx->user_port;
	in->flowinfo = 0;
	in->addr[0] = ctx->user_ip6[0];
	in->addr[1] = ctx->user_ip6[1];
	in->addr[2] = ctx->user_ip6[2];
	in->addr[3] = ctx->user_ip6[3];
	in->scope_id = 0;
	rec_send(s);
}

/* 1 = let through, 0 = EPERM. */
#define CGROUP(name, kind, send, deny)                                                             \
	SEC("?cgroup/" #name)                                                                      \
	int cg_##name(struct bpf_sock_addr *ctx)                                                   \
	{                                                                                          \
		if (!is_ours())                                                                    \
			return 1;                                                                  \
		send(ctx, kind);                                                                   \
		return (deny) ? 0 : 1;                                                             \
	}

CGROUP(connect4, EV_CONNECT, send_inet4, is_canary())
CGROUP(connect6, EV_CONNECT, send_inet6, is_canary())
CGROUP(sendmsg4, EV_SEND, send_inet4, false)
CGROUP(sendmsg6, EV_SEND, send_inet6, false)
CGROUP(bind4, EV_BIND, send_inet4, false)
CGROUP(bind6, EV_BIND, send_inet6, false)
