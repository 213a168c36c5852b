/* SPDX-License-Identifier: MIT */
/*
 * Proofs against the tree of eight leaves that implementations of RFC 6962
 * share as test data, then over all small trees: what is built holds, and
 * nothing else does.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "ledger/proof.h"

#include <sodium.h>

#define SMALL 40

static const char *const inputs[] = {
	"", "00", "10", "2021", "3031", "40414243", "5051525354555657",
	"606162636465666768696a6b6c6d6e6f",
};

static const char *const roots[] = {
	"6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d",
	"fac54203e7cc696cf0dfcb42c92a1d9dbaf70ad9e621f4bd8d98662f00e3c125",
	"aeb6bcfe274b70a14fb067a5e5578264db0fa9b51af5e0ba159158f329e06e77",
	"d37ee418976dd95753c1c73862b9398fa2a2cf9b4ff0fdfe8b30cd95209614b7",
	"4e3bbb1f7b478dcfe71fb631631519a3bca12c9aefca1612bfce4c13a86264d4",
	"76e67dadbcdf1e10e1b74ddc608abd2f98dfb16fbce75277b5232a127f2087ef",
	"ddb89be403809e325750d3d263cd78929c2942b7942a34b77e122c9594a74c8c",
	"5dc9da79a70659a9ad559cb701ded9a2ab9d823aad2f4960cfe370eff4604328",
};

#define N01 "fac54203e7cc696cf0dfcb42c92a1d9dbaf70ad9e621f4bd8d98662f00e3c125"
#define N03 "d37ee418976dd95753c1c73862b9398fa2a2cf9b4ff0fdfe8b30cd95209614b7"
#define N23 "5f083f0a1a33ca076a95279832580db3e0ef4584bdff1f54c8a360f50de3031e"
#define N47 "6b47aaf29ee3c2af9af889bc1fb9254dabd31177f16232dd6aab035ca39bf6e4"
#define N45 "0ebc5d3437fbe2db158b9f126a1d118e308181031d0a949f8dededebc558ef6a"
#define N67 "ca854ea128ed050b41b35ffc1b87b8eb2bde461e9e3b5596ece6b9d5975a0ae0"
#define L0  "6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d"
#define L1  "96a296d224f285c67bee93c30f8a309157f0daa35dc5b87e410b78630a09cfc7"
#define L4  "bc1a0643b12e4d2d7c77918f44e0f4f79a838b6cf9ec5b5c283e1f4d88599e6b"

static const struct {
	uint64_t index, size;
	const char *path[4];
} inclusions[] = {
	{ 0, 1, { NULL } },	      { 0, 8, { L1, N23, N47 } }, { 5, 8, { L4, N67, N03 } },
	{ 2, 3, { N01 } },	      { 1, 5, { L0, N23, L4 } },
};

static const struct {
	uint64_t from, to;
	const char *path[4];
} consistencies[] = {
	{ 1, 1, { NULL } },
	{ 1, 8, { L1, N23, N47 } },
	{ 6, 8, { N45, N67, N03 } },
	{ 2, 5, { N23, L4 } },
};

static struct hash from_hex(const char *hex)
{
	struct hash h;

	assert_int_equal(sodium_hex2bin(h.b, sizeof(h.b), hex, strlen(hex), NULL, NULL, NULL), 0);
	return h;
}

static struct hash leaf_of(const char *hex)
{
	uint8_t text[32] = { 0 };
	size_t n = strlen(hex) / 2;
	struct hash h;

	if (n)
		sodium_hex2bin(text + 1, n, hex, 2 * n, NULL, NULL, NULL);
	crypto_hash_sha256(h.b, text, 1 + n);
	return h;
}

static void same_path(const struct proof_path *p, const char *const *want)
{
	size_t n = 0;

	for (; want[n]; n++) {
		struct hash h = from_hex(want[n]);

		assert_true(n < p->n);
		assert_memory_equal(p->hash[n].b, h.b, sizeof(h.b));
	}
	assert_int_equal(p->n, n);
}

static void feed(struct proof_build *b, uint64_t size)
{
	for (uint64_t i = 0; i < size; i++) {
		struct hash h = leaf_of(inputs[i]);

		proof_add_leaf(b, i, &h);
	}
}

static void builds_the_paths_of_the_common_test_data(void **state)
{
	struct proof_build b;

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(inclusions); i++) {
		proof_want_inclusion(&b, inclusions[i].index, inclusions[i].size);
		feed(&b, 8); /* leaves behind the tree change nothing */
		same_path(&b.path, inclusions[i].path);
	}
	for (size_t i = 0; i < ARRAY_SIZE(consistencies); i++) {
		proof_want_consistency(&b, consistencies[i].from, consistencies[i].to);
		feed(&b, 8);
		same_path(&b.path, consistencies[i].path);
	}
}

static void checks_the_paths_of_the_common_test_data(void **state)
{
	struct proof_build b;

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(inclusions); i++) {
		struct hash root = from_hex(roots[inclusions[i].size - 1]);
		struct hash leaf = leaf_of(inputs[inclusions[i].index]);

		proof_want_inclusion(&b, inclusions[i].index, inclusions[i].size);
		feed(&b, 8);
		assert_true(proof_includes(&b.path, inclusions[i].index, inclusions[i].size, &leaf,
					   &root));
	}
	for (size_t i = 0; i < ARRAY_SIZE(consistencies); i++) {
		struct hash old = from_hex(roots[consistencies[i].from - 1]);
		struct hash new = from_hex(roots[consistencies[i].to - 1]);

		proof_want_consistency(&b, consistencies[i].from, consistencies[i].to);
		feed(&b, 8);
		assert_true(proof_consistent(&b.path, consistencies[i].from, &old,
					     consistencies[i].to, &new));
	}
}

/* ---- all small trees ------------------------------------------------------------- */

static struct hash numbered(uint64_t i)
{
	struct hash h;

	crypto_hash_sha256(h.b, (uint8_t *)&i, sizeof(i));
	return h;
}

static struct hash root_of(uint64_t n)
{
	struct tree t = { 0 };
	struct hash h;

	for (uint64_t i = 0; i < n; i++) {
		h = numbered(i);
		tree_add(&t, &h);
	}
	tree_root(&t, &h);
	return h;
}

static void feed_numbered(struct proof_build *b, uint64_t size)
{
	for (uint64_t i = 0; i < size; i++) {
		struct hash h = numbered(i);

		proof_add_leaf(b, i, &h);
	}
}

static void refuses_changed(struct proof_path *p, uint64_t index, uint64_t size,
			    const struct hash *leaf, const struct hash *root)
{
	struct hash other = numbered(99);

	assert_false(proof_includes(p, index, size, &other, root));
	assert_false(proof_includes(p, index, size, leaf, &other));
	assert_false(proof_includes(p, size, size, leaf, root));
	p->hash[p->n++] = other;
	assert_false(proof_includes(p, index, size, leaf, root));
	p->n--;
	for (size_t i = 0; i < p->n; i++) {
		p->hash[i].b[7] ^= 1;
		assert_false(proof_includes(p, index, size, leaf, root));
		p->hash[i].b[7] ^= 1;
	}
	if (!p->n)
		return;
	p->n--;
	assert_false(proof_includes(p, index, size, leaf, root));
	p->n++;
}

static void includes_every_leaf_of_small_trees_and_nothing_else(void **state)
{
	(void)state;
	for (uint64_t size = 1; size <= SMALL; size++) {
		struct hash root = root_of(size);

		for (uint64_t index = 0; index < size; index++) {
			struct hash leaf = numbered(index);
			struct proof_build b;

			proof_want_inclusion(&b, index, size);
			feed_numbered(&b, size);
			assert_true(proof_includes(&b.path, index, size, &leaf, &root));
			refuses_changed(&b.path, index, size, &leaf, &root);
			if (size > 1)
				assert_false(proof_includes(&b.path, (index + 1) % size, size,
							    &leaf, &root));
		}
	}
}

static void knows_small_trees_as_beginnings_of_others(void **state)
{
	struct hash wrong = numbered(99);

	(void)state;
	for (uint64_t to = 1; to <= SMALL; to++) {
		struct hash new = root_of(to);

		for (uint64_t from = 1; from <= to; from++) {
			struct hash old = root_of(from);
			struct proof_build b;

			proof_want_consistency(&b, from, to);
			feed_numbered(&b, to);
			assert_true(proof_consistent(&b.path, from, &old, to, &new));
			assert_false(proof_consistent(&b.path, from, &wrong, to, &new));
			assert_false(proof_consistent(&b.path, from, &old, to, &wrong));
			b.path.hash[b.path.n++] = wrong;
			assert_false(proof_consistent(&b.path, from, &old, to, &new));
		}
	}
}

static void takes_the_largest_tree(void **state)
{
	struct proof_build b;

	(void)state;
	proof_want_inclusion(&b, 0, INT64_MAX);
	assert_int_equal(b.path.n, 63);
	proof_want_consistency(&b, INT64_MAX - 1, INT64_MAX);
	assert_int_equal(b.path.n, 63);
}

/* ---- the text --------------------------------------------------------------------- */

#define NOTE "deedlog.invalid/fe812c12f3ab\n3\nRRIMgU8/TeF4I1mV2kCqYnk2kAcYcOyqSJCSRL7mOSE=\n\n" \
	"\xe2\x80\x94 example.org/w QUJDREVGR0g=\n"
#define HASH "RRIMgU8/TeF4I1mV2kCqYnk2kAcYcOyqSJCSRL7mOSE=\n"

static int parse(const char *text, struct tlog_proof *ret)
{
	return tlog_proof_parse(cur_of(text, strlen(text)), ret);
}

static void reads_and_writes_one_spelling(void **state)
{
	static const char text[] = "c2sp.org/tlog-proof@v1\nindex 2\n" HASH "\n" NOTE;
	_cleanup_buf_ struct buf again = BUF_INIT;
	struct tlog_proof p;

	(void)state;
	assert_int_equal(parse(text, &p), 0);
	assert_int_equal(p.index, 2);
	assert_int_equal(p.path.n, 1);
	assert_int_equal(p.note.cp.size, 3);
	tlog_proof_add(&again, p.index, &p.path, p.note.raw);
	assert_string_equal(again.data, text);
}

static void refuses_other_spellings(void **state)
{
	static const char *const bad[] = {
		"",
		"c2sp.org/tlog-proof@v2\nindex 2\n" HASH "\n" NOTE,
		"c2sp.org/tlog-proof@v1\nindex 02\n" HASH "\n" NOTE,
		"c2sp.org/tlog-proof@v1\nindex -2\n" HASH "\n" NOTE,
		"c2sp.org/tlog-proof@v1\nextra QQ==\nindex 2\n" HASH "\n" NOTE,
		"c2sp.org/tlog-proof@v1\nindex 2\nQUJD\n\n" NOTE,
		"c2sp.org/tlog-proof@v1\nindex 2\n" HASH NOTE,
		"c2sp.org/tlog-proof@v1\nindex 2\n" HASH "\n",
		"c2sp.org/tlog-proof@v1\nindex 2\n" HASH "\n" NOTE "x",
		"c2sp.org/tlog-proof@v1\nindex 9223372036854775808\n" HASH "\n" NOTE,
	};
	struct tlog_proof p;

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++)
		assert_int_equal(parse(bad[i], &p), -EBADMSG);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(builds_the_paths_of_the_common_test_data),
		cmocka_unit_test(checks_the_paths_of_the_common_test_data),
		cmocka_unit_test(includes_every_leaf_of_small_trees_and_nothing_else),
		cmocka_unit_test(knows_small_trees_as_beginnings_of_others),
		cmocka_unit_test(takes_the_largest_tree),
		cmocka_unit_test(reads_and_writes_one_spelling),
		cmocka_unit_test(refuses_other_spellings),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
