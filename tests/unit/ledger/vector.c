/* SPDX-License-Identifier: MIT */
/* The test vector of docs/ledger-format.md, byte for byte. Expected values are from the document. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "ledger/key.h"
#include "ledger/leaf.h"
#include "ledger/line.h"
#include "ledger/member.h"
#include "ledger/segment.h"

#include <sodium.h>

#define LOG "deedlog.invalid/fe812c12f3ab"
#define RUN LOG "/run/0123456789abcdef"

static const char *const lines[] = {
	"{\"t\":\"segment\",\"v\":1,\"origin\":\"" RUN "\",\"seq\":0,\"size\":0,"
	"\"root\":\"47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=\",\"frontier\":[]}",
	"{\"t\":\"open\",\"b\":1000,\"path\":\"/src/a.js\"}",
	"{\"t\":\"seal\",\"n\":3,\"b\":[1000,1000],\"at\":[2000,1795959226000001000],\"lost\":{},"
	"\"sampled_out\":{},\"bytes\":209}",
};

static const char *const hashes[] = {
	"4e7e4064f92a95b63de0130da85e87a779bdf7f86e69fd3c07af12fb315a3a8f",
	"221a664e4c1a2161b36d9d52f7e60c4536992441809aad93b79bb27c48cab47e",
	"5007d4598b36738aaf40c23d3822b8d0dd529b498526e81f4d33b0dfa433e377",
};
static const char root_hex[] = "45120c814f3f4de178235995da40aa62793690071870ecaa48909244bee63921";
static const char run_line[] =
	"\xe2\x80\x94 " RUN " nsu+WMBtID1oqPehqyAdT93rOPcIiZPfewAB+nIkvcMZGO2+iYNoEmXehnbtCayl9hVuBd0m"
	"gqqE6ED+QgUfPrBWugY=\n";
static const char id_line[] =
	"\xe2\x80\x94 deedlog.invalid/id/7599776c3085 3AOgjAAAAABrDCm+j7SKFlTaGVlSQycEYAm/UlW+K9FIJigz"
	"TBec7m8zWoZ8WIy5mYLdRPItKrUfw2wuX271Yjc/F1rnTOlwXY1sBg==\n";

static struct signer *seeded(uint8_t byte, const char *name, const char *prefix, enum key_type type)
{
	uint8_t seed[KEY_SEED_LEN];

	memset(seed, byte, sizeof(seed));
	return key_from_seed(seed, name, prefix, type);
}

static void assert_hex(const void *bytes, size_t n, const char *hex)
{
	char text[2 * 512 + 1];

	assert_true(n <= 512);
	assert_string_equal(sodium_bin2hex(text, sizeof(text), bytes, n), hex);
}

static void names_and_keys(void **state)
{
	static const struct {
		uint8_t seed;
		const char *name, *prefix;
		enum key_type type;
		const char *vkey;
	} rows[] = {
		{ 7, NULL, "", KEY_LOG, LOG "+43e8a0ab+AepKbGPinFIKvvVQexMuxfmVR3auvr57kkIe6mkURtIs" },
		{ 8, RUN, NULL, KEY_LOG, RUN "+9ecbbe58+AROY9ixtGkV8UbpqS189vS9p/KkyFiGNyJl+QWvRfZPK" },
		{ 5, NULL, "id/", KEY_COSIGN,
		  "deedlog.invalid/id/7599776c3085+dc03a08c+BG56HN0psLeP0Tr0xVmP7/TvKpcWbjym8uT7/M2AUFvx" },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		_cleanup_key_ struct signer *s =
			seeded(rows[i].seed, rows[i].name, rows[i].prefix, rows[i].type);
		_cleanup_buf_ struct buf b = BUF_INIT;
		struct vkey back;

		vkey_add(&b, &s->v);
		assert_string_equal(buf_str(&b), rows[i].vkey);
		assert_int_equal(vkey_parse(cur_of(b.data, b.len), &back), 0);
		assert_memory_equal(&back, &s->v, sizeof(back));
	}
}

static void first_line_is_the_segment_line(void **state)
{
	struct tree t = { 0 };
	_cleanup_buf_ struct buf b = BUF_INIT;

	(void)state;
	segment_line(&b, RUN, 0, &t);
	assert_string_equal(buf_str(&b), lines[0]);
}

static void hash_all(struct tree *t, bool check)
{
	uint8_t salt_key[SALT_KEY_LEN];

	memset(salt_key, 9, sizeof(salt_key));
	for (size_t i = 0; i < ARRAY_SIZE(lines); i++) {
		struct hash h;

		leaf_hash(salt_key, i, cur_of(lines[i], strlen(lines[i])), &h);
		if (check)
			assert_hex(h.b, sizeof(h.b), hashes[i]);
		tree_add(t, &h);
	}
}

static void leaves_and_root(void **state)
{
	struct tree t = { 0 };
	struct hash root;

	(void)state;
	tree_root(&t, &root);
	assert_hex(root.b, sizeof(root.b), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
	hash_all(&t, true);
	tree_root(&t, &root);
	assert_hex(root.b, sizeof(root.b), root_hex);
}

static void make_note(struct buf *note, bool with_identity)
{
	_cleanup_key_ struct signer *run = seeded(8, RUN, NULL, KEY_LOG);
	_cleanup_key_ struct signer *id = seeded(5, NULL, "id/", KEY_COSIGN);
	const struct signer *signers[] = { run, id };
	struct checkpoint cp = { .origin = RUN, .size = 3 };
	struct tree t = { 0 };

	hash_all(&t, false);
	tree_root(&t, &cp.root);
	note_add(note, &cp, signers, 1 + with_identity, 1795959230);
}

static void note_and_seal_member(void **state)
{
	static const char text[] = RUN "\n3\nRRIMgU8/TeF4I1mV2kCqYnk2kAcYcOyqSJCSRL7mOSE=\n\n";
	_cleanup_buf_ struct buf note = BUF_INIT, want = BUF_INIT, member = BUF_INIT;
	struct hash sha;

	(void)state;
	buf_addstr(&want, text);
	buf_addstr(&want, run_line);
	make_note(&note, false);
	assert_string_equal(buf_str(&note), buf_str(&want));
	assert_int_equal(note.len, 245);
	member_add_seal(&member, cur_of(note.data, note.len));
	assert_int_equal(member.len, 271);
	crypto_hash_sha256(sha.b, (uint8_t *)member.data, member.len);
	assert_hex(sha.b, sizeof(sha.b), "8687a5ca1fe08157bac97dc4b3924b64a54fef3e5e957861bccbbe5ee63af904");
	buf_addstr(&want, id_line);
	buf_reset(&note);
	make_note(&note, true);
	assert_string_equal(buf_str(&note), buf_str(&want));
}

static void data_member_header(void **state)
{
	static const char head[] = "1f8b0804000000000" "0ff3400544c3000"
		"0909090909090909090909090909090909090909090909090909090909090909"
		"000000000000000003000000";
	_cleanup_buf_ struct buf plain = BUF_INIT, member = BUF_INIT;
	struct packer *p = packer_new(1);
	uint8_t salt_key[SALT_KEY_LEN];

	(void)state;
	memset(salt_key, 9, sizeof(salt_key));
	for (size_t i = 0; i < ARRAY_SIZE(lines); i++) {
		buf_addstr(&plain, lines[i]);
		buf_addch(&plain, '\n');
	}
	member_add_data(p, &member, salt_key, 0, 3, cur_of(plain.data, plain.len));
	packer_free(p);
	assert_hex(member.data, 60, head);
	assert_int_equal((uint8_t)member.data[60] | (uint8_t)member.data[61] << 8, member.len);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(names_and_keys),
		cmocka_unit_test(first_line_is_the_segment_line),
		cmocka_unit_test(leaves_and_root),
		cmocka_unit_test(note_and_seal_member),
		cmocka_unit_test(data_member_header),
	};

	if (key_init() < 0)
		return 1;
	return cmocka_run_group_tests(tests, NULL, NULL);
}
