/* SPDX-License-Identifier: MIT */
/*
 * Messages between a front (which the user sees) and its collector, over a
 * stream socket pair. Both ends are of this build, so a message is its type,
 * its length and its bytes. 0 or -errno; -EPIPE: the other end is gone.
 */
#ifndef DAEMON_LINK_H
#define DAEMON_LINK_H

#include "base/buf.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#define MAX_LINK_BYTES (64u << 20) /* a summary as JSON of a very large run */

enum link_type {
	/* front to collector */
	LINK_TARGET, /* pid_t of the command, still waiting to exec */
	LINK_EXIT,   /* int: its wait status */
	LINK_STOP,   /* do not wait for what is left */
	/* collector to front */
	LINK_ARMED, /* struct link_armed: recording, the command may exec */
	LINK_FAIL,  /* text: could not start */
	LINK_NOTE,  /* text for people, now */
	LINK_DONE,  /* struct link_done, then the summary */
};

struct link_armed {
	char run[17];
};

/* What a run found, as --fail-on asks. */
#define FOUND_LOST (1u << 0)
#define FOUND_NET  (1u << 1)

struct link_done {
	uint32_t found; /* FOUND_* */
	uint32_t storage_failed; /* the last seal may be absent */
	char run[17];
	char pad[7];
};

struct link_msg {
	enum link_type type;
	struct buf bytes;
};

/* A front's pair: [0] for itself, [1] for the collector; both close-on-exec. */
int link_pair(int ret_fds[2]);
int link_send(int fd, enum link_type type, const void *p, size_t len);
/* Two pieces as one message. */
int link_send2(int fd, enum link_type type, const void *p, size_t len, const void *q, size_t qlen);
/* Gives up (-EAGAIN) where link_send() would wait: for notes that may be lost. */
int link_send_now(int fd, enum link_type type, const void *p, size_t len);
/* Waits for one whole message; m->bytes is emptied first. */
int link_recv(int fd, struct link_msg *m);

#endif
