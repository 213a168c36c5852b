/* SPDX-License-Identifier: MIT */
/* Signed notes, see note.h. */
#include "note.h"

#include "base/base64.h"
#include "base/num.h"
#include "signer.h"

#include <sodium.h>

#define DASH "\xe2\x80\x94 " /* U+2014 and a blank begin a signature line */
#define HOST "deedlog.invalid/"
#define CHECKPOINT_CAP 192 /* three lines: a name, 20 digits, 44 characters */

static bool is_name(const struct cur *c)
{
	if (!cur_left(c) || cur_left(c) > NAME_MAX_LEN)
		return false;
	for (const uint8_t *at = c->at; at < c->end; at++)
		if (!memchr("abcdefghijklmnopqrstuvwxyz0123456789./-", *at, 39))
			return false;
	return true;
}

static void copy_name(char to[NAME_MAX_LEN + 1], const struct cur *c)
{
	memcpy(to, c->at, cur_left(c)); /* is_name() bounds it */
	to[cur_left(c)] = '\0';
}

void vkey_make(struct vkey *v, const char *name, enum key_type type, const uint8_t pk[PK_LEN])
{
	uint8_t text[NAME_MAX_LEN + 2 + PK_LEN]; /* no allocation: the signing process cannot */
	struct hash h;
	size_t n;

	*v = (struct vkey){ .type = type };
	(void)snprintf(v->name, sizeof(v->name), "%s", name); /* names are ours and fit */
	memcpy(v->pk, pk, PK_LEN);
	n = strlen(v->name);
	memcpy(text, v->name, n);
	text[n++] = '\n';
	text[n++] = (uint8_t)type;
	memcpy(text + n, pk, PK_LEN);
	crypto_hash_sha256(h.b, text, n + PK_LEN);
	memcpy(v->id, h.b, sizeof(v->id));
}

void vkey_add(struct buf *to, const struct vkey *v)
{
	uint8_t typed[1 + PK_LEN] = { (uint8_t)v->type };
	char id[2 * KEY_ID_LEN + 1];

	memcpy(typed + 1, v->pk, PK_LEN);
	buf_addf(to, "%s+%s+", v->name, sodium_bin2hex(id, sizeof(id), v->id, KEY_ID_LEN));
	base64_add(to, typed, sizeof(typed));
}

int vkey_parse(struct cur text, struct vkey *ret)
{
	uint8_t typed[1 + PK_LEN];
	char name[NAME_MAX_LEN + 1];
	char id[2 * KEY_ID_LEN + 1];
	struct cur part, want;

	/* base64 may hold more plus signs: only the first two separate */
	if (cur_until(&text, '+', &part) < 0 || !is_name(&part))
		return -EBADMSG;
	copy_name(name, &part);
	if (cur_until(&text, '+', &want) < 0 || base64_exact(text, typed, sizeof(typed)) < 0)
		return -EBADMSG;
	if (typed[0] != KEY_LOG && typed[0] != KEY_COSIGN)
		return -EBADMSG;
	vkey_make(ret, name, typed[0], typed + 1);
	return cur_is(&want, sodium_bin2hex(id, sizeof(id), ret->id, KEY_ID_LEN)) ? 0 : -EBADMSG;
}

void name_of_key(char to[NAME_MAX_LEN + 1], const char *prefix, const uint8_t pk[PK_LEN])
{
	char hex[LOG_ID_LEN + 1];
	struct hash h;

	crypto_hash_sha256(h.b, pk, PK_LEN);
	sodium_bin2hex(hex, sizeof(hex), h.b, LOG_ID_LEN / 2);
	(void)snprintf(to, NAME_MAX_LEN + 1, HOST "%s%s", prefix, hex); /* 31 characters at most */
}

void name_of_run(char to[NAME_MAX_LEN + 1], const char *log_name, const char *run_id)
{
	(void)snprintf(to, NAME_MAX_LEN + 1, "%.40s/run/%.16s", log_name, run_id); /* 49 */
}

static void cosigned_text(struct buf *to, uint64_t unix_s, struct cur text)
{
	buf_addf(to, "cosignature/v1\ntime %llu\n", (unsigned long long)unix_s);
	buf_add(to, text.at, cur_left(&text));
}

static void put_be64(uint8_t to[8], uint64_t n)
{
	for (int i = 8; i--; n >>= 8)
		to[i] = (uint8_t)n;
}

static uint64_t get_be64(const uint8_t from[8])
{
	uint64_t n = 0;

	for (int i = 0; i < 8; i++)
		n = n << 8 | from[i];
	return n;
}

size_t checkpoint_text(const struct checkpoint *cp, char *to, size_t cap)
{
	char root[BASE64_LEN(sizeof(cp->root.b)) + 1];

	*base64_put(root, cp->root.b, sizeof(cp->root.b)) = '\0';
	return (size_t)snprintf(to, cap, "%s\n%llu\n%s\n", cp->origin,
				(unsigned long long)cp->size, root);
}

static void cosign(const struct signer *s, struct cur text, uint64_t unix_s, uint8_t sig[SIG_LEN])
{
	_cleanup_buf_ struct buf msg = BUF_INIT;

	cosigned_text(&msg, unix_s, text);
	(void)crypto_sign_detached(sig, NULL, (uint8_t *)msg.data, msg.len, s->secret); /* always 0 */
}

static int sign_line(struct buf *to, const struct checkpoint *cp, struct cur text,
		     const struct signer *s, uint64_t unix_s)
{
	uint8_t blob[KEY_ID_LEN + 8 + SIG_LEN];
	size_t at = KEY_ID_LEN;
	int r = 0;

	memcpy(blob, s->v.id, KEY_ID_LEN);
	if (s->v.type == KEY_COSIGN) {
		put_be64(blob + at, unix_s);
		at += 8;
		cosign(s, text, unix_s, blob + at);
	} else if (s->by) {
		r = signing_sign(s, cp, blob + at); /* it builds the text itself */
	} else {
		(void)crypto_sign_detached(blob + at, NULL, text.at, cur_left(&text),
					   s->secret); /* always 0 */
	}
	if (r < 0)
		return r;
	buf_addf(to, DASH "%s ", s->v.name);
	base64_add(to, blob, at + SIG_LEN);
	buf_addch(to, '\n');
	return 0;
}

int note_add(struct buf *to, const struct checkpoint *cp, const struct signer *const *signers,
	     size_t n, uint64_t unix_s)
{
	char text[CHECKPOINT_CAP];
	size_t len = checkpoint_text(cp, text, sizeof(text)), before = to->len;
	int r = 0;

	buf_add(to, text, len);
	buf_addch(to, '\n');
	for (size_t i = 0; !r && i < n; i++)
		r = sign_line(to, cp, cur_of(text, len), signers[i], unix_s);
	if (r < 0)
		buf_cut(to, before);
	return r;
}

static int parse_text(struct cur *in, struct checkpoint *cp)
{
	struct cur origin, size, root, empty;

	if (cur_until(in, '\n', &origin) < 0 || !is_name(&origin) ||
	    cur_until(in, '\n', &size) < 0 || cur_until(in, '\n', &root) < 0)
		return -EBADMSG;
	copy_name(cp->origin, &origin);
	if (num_u64((const char *)size.at, cur_left(&size), INT64_MAX, &cp->size) < 0 ||
	    base64_exact(root, cp->root.b, sizeof(cp->root.b)) < 0)
		return -EBADMSG;
	return cur_until(in, '\n', &empty) < 0 || cur_left(&empty) ? -EBADMSG : 0;
}

static int parse_sig(struct cur line, struct note_sig *ret)
{
	_cleanup_buf_ struct buf blob = BUF_INIT;

	if (!cur_starts(&line, DASH) || cur_skip(&line, strlen(DASH)) < 0 ||
	    cur_until(&line, ' ', &ret->name) < 0 || !cur_left(&ret->name))
		return -EBADMSG;
	if (base64_decode(line, &blob) < 0 || blob.len <= KEY_ID_LEN)
		return -EBADMSG;
	ret->len = blob.len;
	memcpy(ret->blob, blob.data, MIN(blob.len, sizeof(ret->blob)));
	return 0;
}

static bool has_control_bytes(const struct cur *c)
{
	for (const uint8_t *at = c->at; at < c->end; at++)
		if (*at < 0x20 && *at != '\n')
			return true;
	return false;
}

int note_parse(struct cur in, struct note *ret)
{
	struct cur line, whole = in;

	if (cur_left(&in) > NOTE_MAX || has_control_bytes(&in) || parse_text(&in, &ret->cp) < 0)
		return -EBADMSG;
	ret->raw = whole;
	ret->text = (struct cur){ whole.at, in.at - 1 }; /* the empty line is not signed */
	ret->n_sigs = 0;
	while (cur_left(&in)) {
		if (ret->n_sigs == NOTE_MAX_SIGS || cur_until(&in, '\n', &line) < 0 ||
		    parse_sig(line, &ret->sigs[ret->n_sigs]) < 0)
			return -EBADMSG;
		ret->n_sigs++;
	}
	return ret->n_sigs ? 0 : -EBADMSG;
}

static bool is_by(const struct note_sig *s, const struct vkey *v)
{
	return cur_is(&s->name, v->name) && !memcmp(s->blob, v->id, KEY_ID_LEN);
}

static bool is_good(const struct note *n, const struct note_sig *s, const struct vkey *v)
{
	_cleanup_buf_ struct buf msg = BUF_INIT;
	size_t at = KEY_ID_LEN;

	if (v->type == KEY_COSIGN) {
		cosigned_text(&msg, get_be64(s->blob + at), n->text);
		at += 8;
	} else {
		buf_add(&msg, n->text.at, cur_left(&n->text));
	}
	return s->len == at + SIG_LEN &&
	       !crypto_sign_verify_detached(s->blob + at, (uint8_t *)msg.data, msg.len, v->pk);
}

int note_verify(const struct note *n, const struct vkey *v)
{
	int found = 0;

	for (size_t i = 0; i < n->n_sigs; i++) {
		if (!is_by(&n->sigs[i], v))
			continue;
		if (!is_good(n, &n->sigs[i], v))
			return -EBADMSG;
		found = 1;
	}
	return found;
}

uint64_t note_cosign_time(const struct note *n, const struct vkey *v)
{
	for (size_t i = 0; i < n->n_sigs && v->type == KEY_COSIGN; i++)
		if (is_by(&n->sigs[i], v))
			return get_be64(n->sigs[i].blob + KEY_ID_LEN);
	return 0;
}
