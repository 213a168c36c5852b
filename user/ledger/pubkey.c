/* SPDX-License-Identifier: MIT */
/* Spellings of public keys, see pubkey.h. */
#include "pubkey.h"

#include "base/base64.h"

#define SPKI "\x30\x2a\x30\x05\x06\x03\x2b\x65\x70\x03\x21\x00" /* DER around an Ed25519 key */
#define SSH_TYPE "ssh-ed25519"

void pubkey_num(uint8_t to[PUBKEY_NUM_LEN], const struct vkey *v)
{
	memcpy(to, v->id, KEY_ID_LEN);
	memcpy(to + KEY_ID_LEN, v->id, KEY_ID_LEN);
}

static void add_ssh_string(struct buf *to, const void *p, uint8_t n)
{
	const char len[4] = { 0, 0, 0, (char)n };

	buf_add(to, len, sizeof(len));
	buf_add(to, p, n);
}

void pubkey_ssh(struct buf *to, const struct vkey *v)
{
	add_ssh_string(to, SSH_TYPE, sizeof(SSH_TYPE) - 1);
	add_ssh_string(to, v->pk, PK_LEN);
}

static void add_base64_line(struct buf *to, const struct buf *bytes)
{
	base64_add(to, bytes->data, bytes->len);
	buf_addch(to, '\n');
}

static void add_vkey(struct buf *to, const struct vkey *v)
{
	vkey_add(to, v);
	buf_addch(to, '\n');
}

static void add_pem(struct buf *to, const struct vkey *v)
{
	_cleanup_buf_ struct buf der = BUF_INIT;

	buf_add(&der, SPKI, sizeof(SPKI) - 1);
	buf_add(&der, v->pk, PK_LEN);
	buf_addstr(to, "-----BEGIN PUBLIC KEY-----\n");
	add_base64_line(to, &der);
	buf_addstr(to, "-----END PUBLIC KEY-----\n");
}

/* minisign and signify read each other's key; only the comment is their own. */
static void add_signify(struct buf *to, const struct vkey *v)
{
	_cleanup_buf_ struct buf blob = BUF_INIT;
	uint8_t num[PUBKEY_NUM_LEN];

	pubkey_num(num, v);
	buf_addstr(&blob, "Ed");
	buf_add(&blob, num, sizeof(num));
	buf_add(&blob, v->pk, PK_LEN);
	buf_addf(to, "untrusted comment: %s public key\n", v->name);
	add_base64_line(to, &blob);
}

static void add_allowed(struct buf *to, const struct vkey *v)
{
	_cleanup_buf_ struct buf blob = BUF_INIT;

	pubkey_ssh(&blob, v);
	buf_addf(to, "%s namespaces=\"%s\" " SSH_TYPE " ", v->name, PUBKEY_NAMESPACE);
	add_base64_line(to, &blob);
}

static void (*const writers[])(struct buf *to, const struct vkey *v) = {
	[PUBKEY_VKEY] = add_vkey,	 [PUBKEY_PEM] = add_pem,
	[PUBKEY_MINISIGN] = add_signify, [PUBKEY_SIGNIFY] = add_signify,
	[PUBKEY_ALLOWED] = add_allowed,
};

void pubkey_add(struct buf *to, const struct vkey *v, enum pubkey_format format)
{
	writers[format](to, v);
}
