/* SPDX-License-Identifier: MIT */
/*
 * Fuzzes the member parser: any bytes give a member, -ENODATA or -EBADMSG, in
 * bounded memory; damage has a reason, and no member passes its limits.
 */
#include "ledger/member.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct unpacker *u; /* kept: making one costs more than most inputs */
	struct cur in = cur_of(data, size);
	struct member m;
	const char *why = NULL;
	int r = 0;

	if (!u)
		u = unpacker_new();
	while (cur_left(&in) && !(r = member_take(u, &in, &m, &why)))
		if (m.kind != MEMBER_SEAL && cur_left(&m.plain) > MEMBER_MAX_PLAIN)
			abort();
	if (cur_left(&in) && r != -ENODATA && (r != -EBADMSG || !why))
		abort();
	return 0;
}
