/* SPDX-License-Identifier: MIT */
/*
 * Names of the target through user/ident: zones, command lines, and the table
 * of paths under any order of events. The first byte chooses.
 */
#include "base/cur.h"
#include "base/macros.h"
#include "ident/interp.h"
#include "ident/pathtab.h"
#include "ident/zone.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void fuzz_zone(struct cur in)
{
	struct zone_ctx ctx = { .workspace = str_of("/w/p"), .home = str_of("/w") };
	struct cur root = in;

	if (cur_until(&in, '\n', &root) == 0)
		ctx.tool_root = (struct str){ (const char *)root.at, cur_left(&root) };
	for (uint32_t access = 0; access < 16; access++)
		(void)zone_of(&ctx, (struct str){ (const char *)in.at, cur_left(&in) }, access);
}

static void fuzz_interp(struct cur in)
{
	static const char *const names[] = { "node", "python3", "sh", "perl", "php", "bun" };
	struct str what, argv = { (const char *)in.at, cur_left(&in) };

	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		(void)interp_look(str_of(names[i]), argv, &what);
}

/* An event: kind, object, replaced object, marks, path, newline, to, newline. */
static bool next_event(struct cur *in, struct event *e)
{
	uint8_t kind, obj, over, marks;
	struct cur path, to;

	if (cur_u8(in, &kind) || cur_u8(in, &obj) || cur_u8(in, &over) || cur_u8(in, &marks) ||
	    cur_until(in, '\n', &path) || cur_until(in, '\n', &to))
		return false;
	*e = (struct event){ .kind = kind % EV_COUNT,
			     .obj = { .ino = obj, .dev = 1 },
			     .over = { .ino = over, .dev = 1 } };
	e->have = EF(DEV) | EF(INO) | (marks & 1 ? EF(PATH) : 0) | (marks & 2 ? EF(TO) : 0) |
		  (marks & 4 ? EF(UNPROVEN) : 0) | (marks & 8 ? EF(EXCHANGE) : 0) |
		  (marks & 16 ? EF(OVER_DEV) | EF(OVER_INO) : 0) | (marks & 32 ? EF(CUT) : 0);
	e->path = (struct str){ (const char *)path.at, cur_left(&path) };
	e->to = (struct str){ (const char *)to.at, cur_left(&to) };
	return true;
}

static void fuzz_paths(struct cur in)
{
	struct pathtab *t = pathtab_new(8, 4096);
	struct event e;

	while (next_event(&in, &e))
		(void)pathtab_event(t, &e);
	pathtab_free(t);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static void (*const targets[])(struct cur in) = { fuzz_zone, fuzz_interp, fuzz_paths };
	struct cur in = cur_of(data, size);
	uint8_t first;

	if (cur_u8(&in, &first) == 0)
		targets[first % ARRAY_SIZE(targets)](in);
	return 0;
}
