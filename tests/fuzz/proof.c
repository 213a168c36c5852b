/* SPDX-License-Identifier: MIT */
/*
 * Fuzzes what comes with a disclosed record: proofs in their text form, and the
 * leaves of redacted blocks. What parses has one spelling; a random path leads
 * nowhere; a leaf that lost its content has the hash that it names.
 */
#include "ledger/key.h"
#include "ledger/leaf.h"
#include "ledger/proof.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_proof(struct cur in)
{
	_cleanup_buf_ struct buf again = BUF_INIT;
	struct hash leaf = { { 1 } };
	struct tlog_proof p;

	if (tlog_proof_parse(in, &p) < 0)
		return;
	tlog_proof_add(&again, p.index, &p.path, p.note.raw);
	if (again.len != cur_left(&in) || memcmp(again.data, in.at, again.len))
		abort();
	if (proof_includes(&p.path, p.index, p.note.cp.size, &leaf, &p.note.cp.root))
		abort();
	(void)proof_consistent(&p.path, p.index, &leaf, p.note.cp.size, &p.note.cp.root);
}

static void check_leaf(struct cur in)
{
	_cleanup_buf_ struct buf again = BUF_INIT;
	struct cur rest;
	struct hash h;

	if (leaf_parse(in, &h, &rest) < 0)
		return;
	if (cur_left(&rest)) {
		if (cur_left(&in) != cur_left(&rest) + LEAF_SALT_BYTES + 1)
			abort();
		return;
	}
	leaf_out_redacted(&h, &again);
	if (again.len != cur_left(&in) || memcmp(again.data, in.at, again.len))
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static bool ready;
	struct cur in = cur_of(data, size);

	if (!ready && key_init() < 0)
		abort();
	ready = true;
	check_proof(in);
	check_leaf(in);
	return 0;
}
