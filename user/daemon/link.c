/* SPDX-License-Identifier: MIT */
/* Messages between front and collector, see link.h. */
#include "link.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>

struct head {
	uint32_t type, len;
};

int link_pair(int ret_fds[2])
{
	return socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ret_fds) < 0 ? -errno : 0;
}

static int send_all(int fd, const void *p, size_t len)
{
	const char *at = p;

	while (len) {
		ssize_t n = send(fd, at, len, MSG_NOSIGNAL);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		at += n;
		len -= (size_t)n;
	}
	return 0;
}

static int recv_all(int fd, void *p, size_t len)
{
	char *at = p;

	while (len) {
		ssize_t n = recv(fd, at, len, 0);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		if (!n)
			return -EPIPE;
		at += n;
		len -= (size_t)n;
	}
	return 0;
}

int link_send2(int fd, enum link_type type, const void *p, size_t len, const void *q, size_t qlen)
{
	struct head h = { (uint32_t)type, (uint32_t)(len + qlen) };
	int r;

	if (len + qlen > MAX_LINK_BYTES)
		return -EMSGSIZE;
	r = send_all(fd, &h, sizeof(h));
	if (!r)
		r = send_all(fd, p, len);
	return r ? r : send_all(fd, q, qlen);
}

int link_send(int fd, enum link_type type, const void *p, size_t len)
{
	return link_send2(fd, type, p, len, NULL, 0);
}

int link_send_now(int fd, enum link_type type, const void *p, size_t len)
{
	char whole[4096];
	struct head h = { (uint32_t)type, (uint32_t)len };

	if (len > sizeof(whole) - sizeof(h))
		return -EMSGSIZE;
	memcpy(whole, &h, sizeof(h));
	memcpy(whole + sizeof(h), p, len);
	/* small against the socket's buffer: a stream socket takes it whole or not at all */
	if (send(fd, whole, sizeof(h) + len, MSG_NOSIGNAL | MSG_DONTWAIT) < 0)
		return -errno;
	return 0;
}

int link_recv(int fd, struct link_msg *m)
{
	struct head h;
	int r;

	buf_reset(&m->bytes);
	r = recv_all(fd, &h, sizeof(h));
	if (r < 0)
		return r;
	if (h.len > MAX_LINK_BYTES || h.type > LINK_DONE)
		return -EBADMSG;
	m->type = (enum link_type)h.type;
	r = recv_all(fd, buf_grow(&m->bytes, h.len), h.len);
	if (!r)
		buf_cut(&m->bytes, h.len);
	return r;
}
