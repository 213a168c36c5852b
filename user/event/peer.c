/* SPDX-License-Identifier: MIT */
/* Addresses and protocols by table, see peer.h. */
#include "peer.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>

#define ANY 0xffff

static const struct {
	uint16_t family, type, protocol;
	const char *word;
} protos[] = {
	{ AF_UNIX, ANY, ANY, "unix" },
	{ AF_NETLINK, ANY, ANY, "netlink" },
	{ AF_INET, SOCK_STREAM, 0, "tcp" },
	{ AF_INET, SOCK_STREAM, IPPROTO_TCP, "tcp" },
	{ AF_INET, SOCK_STREAM, IPPROTO_MPTCP, "mptcp" },
	{ AF_INET, SOCK_DGRAM, 0, "udp" },
	{ AF_INET, SOCK_DGRAM, IPPROTO_UDP, "udp" },
	{ AF_INET, SOCK_DGRAM, IPPROTO_UDPLITE, "udplite" },
	{ AF_INET, SOCK_DGRAM, IPPROTO_ICMP, "icmp" },
	{ AF_INET, SOCK_DGRAM, IPPROTO_ICMPV6, "icmp" },
	{ AF_INET, SOCK_RAW, ANY, "raw" },
	{ AF_INET, ANY, IPPROTO_SCTP, "sctp" },
};

static void put_proto(const struct peer *p, struct buf *to)
{
	/* both inet families speak the same protocols */
	uint16_t family = p->family == AF_INET6 ? AF_INET : p->family;

	for (size_t i = 0; i < ARRAY_SIZE(protos); i++) {
		if (protos[i].family == family &&
		    (protos[i].type == ANY || protos[i].type == p->type) &&
		    (protos[i].protocol == ANY || protos[i].protocol == p->protocol)) {
			buf_addstr(to, protos[i].word);
			return;
		}
	}
	buf_addf(to, "family %u", p->family);
	if (family == AF_INET)
		buf_addf(to, " type %u protocol %u", p->type, p->protocol);
}

static int put_port(struct cur *c, struct peer *p)
{
	uint8_t be[2];

	if (cur_copy(c, be, sizeof(be)) < 0)
		return -EBADMSG;
	p->port = (uint32_t)be[0] << 8 | be[1];
	p->has_addr = p->has_port = true;
	return 0;
}

static int put_ip(struct cur *c, int family, size_t n, struct buf *to)
{
	char text[INET6_ADDRSTRLEN];
	uint8_t raw[sizeof(struct in6_addr)];

	if (cur_copy(c, raw, n) < 0)
		return -EBADMSG;
	if (family == AF_INET6 && IN6_IS_ADDR_V4MAPPED((struct in6_addr *)raw)) {
		family = AF_INET;
		memmove(raw, raw + 12, 4);
	}
	if (!inet_ntop(family, raw, text, sizeof(text)))
		return -EBADMSG;
	buf_addstr(to, text);
	return 0;
}

static int put_inet(struct peer *p, struct cur *c, struct buf *to)
{
	int r = put_port(c, p);

	return r ? r : put_ip(c, AF_INET, sizeof(struct in_addr), to);
}

static int put_inet6(struct peer *p, struct cur *c, struct buf *to)
{
	int r = put_port(c, p);

	if (!r)
		r = cur_skip(c, sizeof(uint32_t)); /* flow information */
	return r ? r : put_ip(c, AF_INET6, sizeof(struct in6_addr), to);
}

/* A path ends at its NUL; an abstract name is all the bytes that were given. */
static int put_unix(struct peer *p, struct cur *c, struct buf *to)
{
	struct cur path = *c;

	p->has_addr = cur_left(c) > 0;
	if (!p->has_addr)
		return 0; /* unnamed */
	if (*c->at) {
		(void)cur_until(c, '\0', &path); /* without one the path is all there is */
		if (*path.at == '@')
			buf_addstr(to, "./"); /* a file of that name, not an abstract one */
		buf_add(to, path.at, cur_left(&path));
		return 0;
	}
	(void)cur_skip(c, 1); /* one byte was seen */
	buf_addch(to, '@');
	buf_add(to, c->at, cur_left(c));
	return 0;
}

static const struct {
	uint16_t family;
	int (*put)(struct peer *p, struct cur *c, struct buf *to);
} families[] = {
	{ AF_UNIX, put_unix },
	{ AF_INET, put_inet },
	{ AF_INET6, put_inet6 },
};

int peer_parse(struct peer *p, struct cur sockaddr, struct buf *proto, struct buf *addr)
{
	uint16_t family;

	put_proto(p, proto);
	if (!cur_left(&sockaddr))
		return 0;
	/* the address names its own family: an inet6 socket may be given an inet address */
	if (cur_le16(&sockaddr, &family) < 0)
		return -EBADMSG;
	for (size_t i = 0; i < ARRAY_SIZE(families); i++)
		if (families[i].family == family)
			return families[i].put(p, &sockaddr, addr);
	return 0;
}
