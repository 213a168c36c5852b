/* SPDX-License-Identifier: MIT */
/* Heads and keys for auditors, see audit.h. */
#include "audit.h"

#include "base/base64.h"
#include "base/fdio.h"
#include "hostlog.h"
#include "pubkey.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <sodium.h>
#include <sys/stat.h>

#define SSH_WIDTH 70 /* columns of the armour */
#define SSH_HASH "sha512"
#define COPY_STEP 65536

/* The head, who signed it, and what is known around it. */
struct head {
	struct buf note;
	struct checkpoint cp;
	struct vkey index;
	uint64_t unix_s;
	const struct signer *identity; /* borrowed */
};

static void head_done(struct head *h)
{
	buf_done(&h->note);
}

static int find_head(struct ledger *l, struct head *h, struct diag *d)
{
	_cleanup_(index_done) struct index_state st = { 0 };
	_cleanup_(scan_done) struct scan s;
	int r = 0;

	scan_init(&s, l->index, l->st.origin);
	while (!r && (r = scan_next(&s)) == 1) {
		r = index_fold(&st, &s);
		if (r || note_verify(&s.note, &l->identity->v) != 1)
			continue;
		buf_reset(&h->note);
		buf_add(&h->note, s.note.raw.at, cur_left(&s.note.raw));
		h->cp = s.note.cp;
		h->index = st.sealed_by;
		h->unix_s = note_cosign_time(&s.note, &l->identity->v);
	}
	if (r == -EBADMSG)
		return diag_set(d, r, "index: %s; run \"deedlog verify\"", s.fault.text);
	return h->note.len ? 0 : diag_set(d, -ENODATA, "the identity signed no head yet");
}

/* ---- spellings ----------------------------------------------------------------------- */

static void sign(const struct head *h, const void *bytes, size_t n, uint8_t sig[SIG_LEN])
{
	(void)crypto_sign_detached(sig, NULL, bytes, n, h->identity->secret); /* always 0 */
}

static void signature_blob(const struct head *h, const char *algorithm, const uint8_t sig[SIG_LEN],
			   struct buf *to)
{
	_cleanup_buf_ struct buf blob = BUF_INIT;
	uint8_t num[PUBKEY_NUM_LEN];

	pubkey_num(num, &h->identity->v);
	buf_addstr(&blob, algorithm);
	buf_add(&blob, num, sizeof(num));
	buf_add(&blob, sig, SIG_LEN);
	base64_add(to, blob.data, blob.len);
	buf_addch(to, '\n');
}

/* Prehashed ("ED"); the trusted comment is signed together with the signature. */
static void out_minisig(const struct head *h, struct buf *to)
{
	_cleanup_buf_ struct buf both = BUF_INIT;
	uint8_t hash[64], sig[SIG_LEN], global[SIG_LEN];
	size_t comment;

	crypto_generichash(hash, sizeof(hash), (uint8_t *)h->note.data, h->note.len, NULL, 0);
	sign(h, hash, sizeof(hash), sig);
	buf_add(&both, sig, sizeof(sig));
	comment = both.len;
	buf_addf(&both, "origin:%s size:%" PRIu64 " time:%" PRIu64, h->cp.origin, h->cp.size,
		 h->unix_s);
	sign(h, both.data, both.len, global);
	buf_addf(to, "untrusted comment: %s\n", h->identity->v.name);
	signature_blob(h, "ED", sig, to);
	buf_addf(to, "trusted comment: %s\n", both.data + comment);
	base64_add(to, global, sizeof(global));
	buf_addch(to, '\n');
}

static void out_signify(const struct head *h, struct buf *to)
{
	uint8_t sig[SIG_LEN];

	sign(h, h->note.data, h->note.len, sig);
	buf_addstr(to, "untrusted comment: verify with signify.pub\n");
	signature_blob(h, "Ed", sig, to);
}

static void ssh_string(struct buf *to, const void *bytes, size_t n)
{
	for (int shift = 24; shift >= 0; shift -= 8)
		buf_addch(to, (char)(n >> shift & 0xff));
	buf_add(to, bytes, n);
}

static void ssh_text(struct buf *to, const char *text)
{
	ssh_string(to, text, strlen(text));
}

/* What is signed: the preamble, the namespace, nothing reserved, and a hash of the file. */
static void ssh_sign(const struct head *h, struct buf *to)
{
	_cleanup_buf_ struct buf msg = BUF_INIT;
	uint8_t hash[crypto_hash_sha512_BYTES], sig[SIG_LEN];

	crypto_hash_sha512(hash, (uint8_t *)h->note.data, h->note.len);
	buf_addstr(&msg, "SSHSIG");
	ssh_text(&msg, PUBKEY_NAMESPACE);
	ssh_text(&msg, "");
	ssh_text(&msg, SSH_HASH);
	ssh_string(&msg, hash, sizeof(hash));
	sign(h, msg.data, msg.len, sig);
	ssh_text(to, "ssh-ed25519");
	ssh_string(to, sig, sizeof(sig));
}

static void armour(const struct buf *blob, struct buf *to)
{
	_cleanup_buf_ struct buf text = BUF_INIT;

	base64_add(&text, blob->data, blob->len);
	buf_addstr(to, "-----BEGIN SSH SIGNATURE-----\n");
	for (size_t at = 0; at < text.len; at += SSH_WIDTH) {
		buf_add(to, text.data + at, MIN((size_t)SSH_WIDTH, text.len - at));
		buf_addch(to, '\n');
	}
	buf_addstr(to, "-----END SSH SIGNATURE-----\n");
}

static void out_sshsig(const struct head *h, struct buf *to)
{
	_cleanup_buf_ struct buf blob = BUF_INIT, key = BUF_INIT, sig = BUF_INIT;

	pubkey_ssh(&key, &h->identity->v);
	ssh_sign(h, &sig);
	buf_addstr(&blob, "SSHSIG");
	buf_add(&blob, "\0\0\0\1", 4); /* version */
	ssh_string(&blob, key.data, key.len);
	ssh_text(&blob, PUBKEY_NAMESPACE);
	ssh_text(&blob, "");
	ssh_text(&blob, SSH_HASH);
	ssh_string(&blob, sig.data, sig.len);
	armour(&blob, to);
}

/* ---- files ------------------------------------------------------------------------------ */

static void out_note(const struct head *h, struct buf *to)
{
	buf_add(to, h->note.data, h->note.len);
}

/* The text of the note, which the index key signed. */
static void out_body(const struct head *h, struct buf *to)
{
	struct checkpoint cp = h->cp;

	note_add(to, &cp, NULL, 0, 0);
	buf_cut(to, to->len - 1); /* the empty line */
}

static void out_cosigned(const struct head *h, struct buf *to)
{
	buf_addf(to, "cosignature/v1\ntime %" PRIu64 "\n", h->unix_s);
	out_body(h, to);
}

static void out_raw_signature(const struct head *h, const struct vkey *v, struct buf *to)
{
	struct note n;

	if (note_parse(cur_of(h->note.data, h->note.len), &n) < 0)
		return; /* it was one a moment ago */
	for (size_t i = 0; i < n.n_sigs; i++)
		if (cur_is(&n.sigs[i].name, v->name) && n.sigs[i].len >= SIG_LEN)
			buf_add(to, n.sigs[i].blob + n.sigs[i].len - SIG_LEN, SIG_LEN);
}

static void out_body_sig(const struct head *h, struct buf *to)
{
	out_raw_signature(h, &h->index, to);
}

static void out_cosigned_sig(const struct head *h, struct buf *to)
{
	out_raw_signature(h, &h->identity->v, to);
}

static const struct {
	const char *name;
	void (*out)(const struct head *h, struct buf *to);
} files[] = {
	{ "checkpoint", out_note },
	{ "checkpoint.minisig", out_minisig },
	{ "checkpoint.sig", out_signify },
	{ "checkpoint.sshsig", out_sshsig },
	{ "checkpoint.body", out_body },
	{ "checkpoint.body.rawsig", out_body_sig },
	{ "cosignature.body", out_cosigned },
	{ "cosignature.body.rawsig", out_cosigned_sig },
};

static const struct {
	const char *name;
	bool of_index; /* else of the identity */
	enum pubkey_format format;
} keys[] = {
	{ "index.vkey", true, PUBKEY_VKEY },
	{ "index.pem", true, PUBKEY_PEM },
	{ "identity.vkey", false, PUBKEY_VKEY },
	{ "identity.pem", false, PUBKEY_PEM },
	{ "minisign.pub", false, PUBKEY_MINISIGN },
	{ "signify.pub", false, PUBKEY_SIGNIFY },
	{ "allowed_signers", false, PUBKEY_ALLOWED },
};

static int write_file(int dirfd, const char *name, const struct buf *text, struct diag *d)
{
	int r = file_replace_at(dirfd, name, 0644, text->data, text->len);

	return r < 0 ? diag_set(d, r, "cannot write %s: %s", name, strerror(-r)) : 0;
}

static int write_key(int dirfd, const char *name, const struct vkey *v, enum pubkey_format format,
		     struct diag *d)
{
	_cleanup_buf_ struct buf text = BUF_INIT;

	pubkey_add(&text, v, format);
	return write_file(dirfd, name, &text, d);
}

static int write_head(const struct head *h, int dirfd, struct diag *d)
{
	int r = 0;

	for (size_t i = 0; !r && i < ARRAY_SIZE(files); i++) {
		_cleanup_buf_ struct buf text = BUF_INIT;

		files[i].out(h, &text);
		r = write_file(dirfd, files[i].name, &text, d);
	}
	for (size_t i = 0; !r && i < ARRAY_SIZE(keys); i++)
		r = write_key(dirfd, keys[i].name, keys[i].of_index ? &h->index : &h->identity->v,
			      keys[i].format, d);
	return r;
}

/* ---- a run -------------------------------------------------------------------------------- */

static int copy_bytes(int from, int to)
{
	_cleanup_buf_ struct buf b = BUF_INIT;
	ssize_t n;
	int r = 0;

	while (!r && (n = read(from, buf_grow(&b, COPY_STEP), COPY_STEP)) > 0)
		r = fd_write_all(to, b.data, (size_t)n);
	return r ? r : n < 0 ? -errno : 0;
}

/* -ENOENT: that was the last one. */
static int copy_segment(int from, int to, unsigned seq)
{
	_cleanup_fd_ int in = -1, out = -1;
	char name[SEGMENT_NAME_LEN + 1];

	segment_name(name, seq);
	in = openat(from, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
	if (in < 0)
		return -errno;
	out = openat(to, name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0644);
	return out < 0 ? -EIO : copy_bytes(in, out);
}

static int copy_run(struct ledger *l, const struct index_run *run, int dirfd)
{
	_cleanup_fd_ int from = -1, to = -1;
	int r = 0;

	from = dir_open_at(l->runs, run->info.id);
	if (from < 0)
		return from;
	if (mkdirat(dirfd, "run", 0755) < 0 && errno != EEXIST)
		return -errno;
	to = dir_open_at(dirfd, "run");
	if (to < 0)
		return to;
	for (unsigned seq = 0; !r; seq++)
		r = copy_segment(from, to, seq);
	return r == -ENOENT ? 0 : r;
}

static int write_run(struct ledger *l, const char *run_id, int dirfd, struct diag *d)
{
	const struct index_run *run = index_run(&l->st, run_id);
	int r;

	if (!run)
		return diag_set(d, -ENOENT, "the ledger has no run %.16s", run_id);
	r = copy_run(l, run, dirfd);
	if (r < 0)
		return diag_set(d, r, "cannot copy the log of run %s: %s", run_id,
				run->info.pruned ? "it was pruned" : strerror(-r));
	r = write_key(dirfd, "run.vkey", &run->key, PUBKEY_VKEY, d);
	return r ? r : write_key(dirfd, "run.pem", &run->key, PUBKEY_PEM, d);
}

int audit_export(struct ledger *l, const char *run_id, int dirfd, struct diag *d)
{
	_cleanup_(head_done) struct head h = { .identity = l->identity };
	int r;

	if (!l->identity)
		return diag_set(d, -ENOKEY, "this ledger has no identity key to sign an export with");
	r = find_head(l, &h, d);
	if (!r)
		r = write_head(&h, dirfd, d);
	if (!r)
		r = write_key(dirfd, "genesis.vkey", &l->st.genesis, PUBKEY_VKEY, d);
	if (!r && run_id)
		r = write_run(l, run_id, dirfd, d);
	return r;
}
