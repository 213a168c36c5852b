/* SPDX-License-Identifier: MIT */
/*
 * What the ledger says to the world outside: statements signed by its identity
 * key (DSSE envelopes), and the leaves that remember them and the commits that
 * carry a head of this log. Needs a ledger that was opened for writing.
 */
#ifndef LEDGER_ATTEST_H
#define LEDGER_ATTEST_H

#include "index.h"

#define MAX_STATEMENT 102400 /* bytes of an envelope: what public transparency logs take */

/*
 * Appends {"payload":...,"payloadType":...,"signatures":[...]} on one line without a
 * newline, signed over the DSSE pre-authentication encoding. -EFBIG beyond
 * MAX_STATEMENT; -ENOKEY for a log without identity.
 */
int attest_sign(struct ledger *l, const char *payload_type, const struct buf *payload,
		struct buf *to, struct diag *d);

/* Commits to remember, and the envelope that speaks of them; NULL = none. One block, synced. */
int attest_commits(struct ledger *l, const struct commit_leaf *commits, size_t n,
		   const struct buf *const *envelopes, size_t n_envelopes, struct diag *d);

/* Is there a `commit` leaf for it? */
bool attest_knows(const struct ledger *l, const char *sha);

/* What the index says of the whole log; borrowed until the next call that reads it. */
const struct index_state *ledger_index(const struct ledger *l);

#endif
