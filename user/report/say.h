/* SPDX-License-Identifier: MIT */
/* Pieces of sentences that several reports share. */
#ifndef REPORT_SAY_H
#define REPORT_SAY_H

#include "agg/session.h"

/* "47 files", "1 file" */
void say_count(struct buf *to, uint64_t n, const char *one, const char *many);

/* "0.1 s", "1.2 s", "75 s", "2 min 5 s" */
void say_duration(struct buf *to, uint64_t ns);

/* "tcp [::1]:443"; escaped for a terminal */
void say_peer(struct buf *to, const struct peer_deed *p);

/* Word of an argument list, in quotes where a reader could mistake it; not escaped. */
void say_word(struct buf *to, struct str word);

/* Text for a terminal. */
void say_text(struct buf *to, struct str text);

/* Name of a signal without SIG, "exit 0", "killed by KILL"; "exit unknown". */
void say_exit(struct buf *to, bool known, bool killed, uint32_t code, uint32_t signal);

#endif
