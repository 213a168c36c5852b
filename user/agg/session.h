/* SPDX-License-Identifier: MIT */
/*
 * What one run did, folded from its events: the same events give the same
 * session, live or read back from a ledger, so that a summary recomputed later
 * is the same text. All context (tier, workspace, home, tool) comes in events.
 *
 * Everything is bounded; what found no room is counted in `overflow`, and the
 * counts are then lower limits.
 */
#ifndef AGG_SESSION_H
#define AGG_SESSION_H

#include "event/loss.h"
#include "ident/zone.h"
#include "procs.h"
#include "tally.h"

#define MAX_SESSION_PEERS    4096 /* address and port pairs */
#define MAX_SESSION_PROGRAMS 4096 /* executables */
#define MAX_SESSION_TOOLS    1024
#define MAX_SESSION_NOTES    256  /* gaps, and processes left behind, each */
#define MAX_SESSION_TEXT     4096 /* bytes kept of one path or name of these */

struct peer_deed {
	struct str proto, addr, name; /* owned; name: empty if not known */
	uint32_t port;
	bool has_port, loopback, local; /* local: unix or netlink */
	uint64_t connects, sends, binds;
};

struct program {
	struct str path; /* owned; empty: not known */
	uint64_t count;
};

struct tool_deed {
	uint32_t pid;
	struct str name, version, purl, path; /* owned; empty: not known */
	bool launcher; /* runs other tools: npx, sh -c, sudo */
	uint64_t count;
};

struct gap {
	uint64_t from, until;
	struct str why; /* owned */
};

struct left {
	uint32_t pid;
	struct str name; /* owned */
};

/* Rows in the order of appearance, found again by key. */
struct rows {
	struct map by_key;
	uint64_t overflow; /* events whose row found no room */
};

struct session {
	bool begun, ended; /* a run without end is still going on, or its record is cut */
	uint64_t begin_ns, end_ns;
	struct event begin; /* its texts are owned; without begin line `have` is empty */
	bool has_exit;	/* of the command itself, or of the run */
	bool exit_seen; /* the command's own exit was seen */
	uint64_t exit_ns;
	uint32_t code, signal;
	bool killed;

	struct tally files;
	struct procs procs;
	struct rows peers, programs, tools;
	const struct tool_deed *tool, *launcher; /* first that is no launcher; last that is one */

	uint64_t ops[EV_COUNT]; /* system calls, by kind; repeats count as reads */
	uint64_t read_bytes, written_bytes;
	bool read_unknown, written_unknown; /* some operation without a size */

	bool has_lost;
	struct loss lost;
	uint64_t freezes, frozen_ns;
	struct gap *gaps;
	size_t n_gaps;
	struct left *left;
	size_t n_left;
	uint64_t notes_overflow;
};

struct session *session_new(void);
void session_free(struct session *s);
static inline void session_freep(struct session **s)
{
	session_free(*s);
}
#define _cleanup_session_ _cleanup_(session_freep)

void session_event(struct session *s, const struct event *e);

/* What zone_of() needs to know of this run; borrows from s. */
void session_zones(const struct session *s, struct zone_ctx *ret);

/*
 * Distinct files of one zone: each counts where it lies, and those that are secret
 * or persist once more under these. What was made and removed within the run is
 * `temporary` only.
 */
struct zone_count {
	uint64_t read, written, created, removed, renamed, temporary;
};
struct counts {
	struct zone_count zone[ZONE_COUNT + 1]; /* the last: name not known */
	uint64_t requests; /* connects and datagrams that left this host */
};
void session_count(const struct session *s, struct counts *ret);

/* Rows, in the order of appearance; *at starts as 0. */
const struct peer_deed *session_peer(const struct session *s, size_t *at);
const struct program *session_program(const struct session *s, size_t *at);
const struct tool_deed *session_tool(const struct session *s, size_t *at);

/* The tool that names the run, NULL if none was told; and its name, "" if nothing is known. */
const struct tool_deed *session_headline(const struct session *s);
struct str session_name(const struct session *s);

/* Distinct peers beyond this host that were called. */
uint64_t session_peers(const struct session *s);

/*
 * The record is whole: it has its end, nothing was lost, and nothing but the
 * time before an attach is missing.
 */
bool session_complete(const struct session *s);

/* Events that found no room, all causes. */
uint64_t session_overflow(const struct session *s);

#endif
