/* SPDX-License-Identifier: MIT */
/*
 * Folders for auditors who have none of our code. Both are written anew from
 * the sealed part of a log, which is checked on the way; files that are there
 * already are replaced.
 */
#ifndef LEDGER_AUDIT_H
#define LEDGER_AUDIT_H

#include "ledger.h"

/*
 * The newest index head of the identity with its signatures in the spellings of
 * openssl, minisign, signify and ssh-keygen, and the keys; with `run_id` (may be
 * NULL) that run's key and segments. Needs a ledger opened for writing, for the
 * identity signs: -ENOKEY if there is none. docs/audit.md lists the files.
 */
int audit_export(struct ledger *l, const char *run_id, int dirfd, struct diag *d);

/*
 * C2SP tlog-tiles of a run log, or of the index if run_id is NULL. -ENODATA if a
 * record was redacted: its entry cannot be written.
 */
int tiles_export(struct ledger *l, const char *run_id, int dirfd, struct diag *d);

#endif
