/* SPDX-License-Identifier: MIT */
/* Statements and commits, see attest.h. */
#include "attest.h"

#include "base/base64.h"
#include "base/json_out.h"
#include "hostlog.h"

#include <sodium.h>

/* DSSE: what is signed names its own type and lengths, so that nothing else can be made of it. */
static void add_pae(struct buf *to, const char *type, const struct buf *payload)
{
	buf_addf(to, "DSSEv1 %zu %s %zu ", strlen(type), type, payload->len);
	buf_add(to, payload->data, payload->len);
}

static void out_base64(struct buf *to, const char *key, const void *bytes, size_t n)
{
	_cleanup_buf_ struct buf text = BUF_INIT;

	base64_add(&text, bytes, n);
	json_out_cstr(to, key, buf_str(&text));
}

static void out_key_id(struct buf *to, const struct vkey *v)
{
	char hex[2 * KEY_ID_LEN + 1];
	_cleanup_buf_ struct buf text = BUF_INIT;

	buf_addf(&text, "%s+%s", v->name, sodium_bin2hex(hex, sizeof(hex), v->id, KEY_ID_LEN));
	json_out_cstr(to, "keyid", buf_str(&text));
}

int attest_sign(struct ledger *l, const char *payload_type, const struct buf *payload,
		struct buf *to, struct diag *d)
{
	_cleanup_buf_ struct buf pae = BUF_INIT, out = BUF_INIT;
	uint8_t sig[SIG_LEN];

	if (!l->identity)
		return diag_set(d, -ENOKEY, "this ledger has no identity key to sign a statement with");
	add_pae(&pae, payload_type, payload);
	(void)crypto_sign_detached(sig, NULL, (uint8_t *)pae.data, pae.len,
				   l->identity->secret); /* always 0 */
	json_out_open(&out, NULL, '{');
	out_base64(&out, "payload", payload->data, payload->len);
	json_out_cstr(&out, "payloadType", payload_type);
	json_out_open(&out, "signatures", '[');
	json_out_open(&out, NULL, '{');
	out_key_id(&out, &l->identity->v);
	out_base64(&out, "sig", sig, sizeof(sig));
	json_out_close(&out, '}');
	json_out_close(&out, ']');
	json_out_close(&out, '}');
	if (out.len > MAX_STATEMENT)
		return diag_set(d, -EFBIG, "the statement has %zu bytes, at most %d are allowed",
				out.len, MAX_STATEMENT);
	buf_add(to, out.data, out.len);
	return 0;
}

static void out_statement(struct buf *to, const struct buf *envelope)
{
	char hex[HEX_HASH_LEN + 1];
	struct hash h;

	crypto_hash_sha256(h.b, (const uint8_t *)envelope->data, envelope->len);
	hostlog_leaf(to, "statement");
	json_out_cstr(to, "sha256", sodium_bin2hex(hex, sizeof(hex), h.b, sizeof(h.b)));
	hostlog_leaf_end(to);
}

static void out_commit(struct buf *to, const struct commit_leaf *c)
{
	hostlog_leaf(to, "commit");
	json_out_cstr(to, "sha", c->sha);
	json_out_u64(to, "size", c->size);
	hostlog_leaf_end(to);
}

static int append(struct ledger *l, const struct buf *lines, struct diag *d)
{
	int r;

	r = hostlog_append(l, lines, true, d);
	return r < 0 ? r : hostlog_publish(l, d);
}

int attest_commits(struct ledger *l, const struct commit_leaf *commits, size_t n,
		   const struct buf *const *envelopes, size_t n_envelopes, struct diag *d)
{
	_cleanup_buf_ struct buf lines = BUF_INIT;
	int r;

	if (!n && !n_envelopes)
		return 0;
	r = hostlog_lock(l, d);
	if (r < 0)
		return r;
	for (size_t i = 0; i < n_envelopes; i++)
		out_statement(&lines, envelopes[i]);
	for (size_t i = 0; i < n; i++)
		out_commit(&lines, &commits[i]);
	r = append(l, &lines, d);
	hostlog_unlock(l);
	return r;
}

bool attest_knows(const struct ledger *l, const char *sha)
{
	for (size_t i = 0; i < l->st.n_commits; i++)
		if (!strcmp(l->st.commits[i].sha, sha))
			return true;
	return false;
}

const struct index_state *ledger_index(const struct ledger *l)
{
	return &l->st;
}
