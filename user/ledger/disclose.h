/* SPDX-License-Identifier: MIT */
/*
 * Disclosing one record of a run to somebody who has nothing but the identity's
 * vkey. A folder of six small files leads from an index head that the identity
 * signed to the leaf run-start (the run's key), to run-end (its final root),
 * and from there to the record:
 *	event.json run-start.json run-end.json		the leaves, byte for byte
 *	event.tlog-proof run-start... run-end...	their proofs
 * run-end is run-orphan for a run that crashed; an open run has none.
 */
#ifndef LEDGER_DISCLOSE_H
#define LEDGER_DISCLOSE_H

#include "ledger.h"
#include "note.h"

struct disclosure {
	char origin[NAME_MAX_LEN + 1]; /* of the run log */
	uint64_t index, size;	       /* of the record, of the run log */
	uint64_t head_size;	       /* of the index */
	uint64_t head_unix_s;	       /* when the identity signed it; 0 = it did not */
	bool ended;
};

/* Writes the files into dirfd. Reads and checks the whole run and index on the way. */
int disclose_write(struct ledger *l, const char *run_id, uint64_t index, int dirfd,
		   struct diag *d, struct disclosure *ret);

/* -EBADMSG: a file is malformed or does not follow from the identity's signature. */
int disclose_check(int dirfd, const char *identity_vkey, struct diag *d, struct disclosure *ret);

#endif
