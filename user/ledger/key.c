/* SPDX-License-Identifier: MIT */
/* Secret keys in memory and on disk, see key.h. */
#include "key.h"

#include "base/alloc.h"
#include "base/fdio.h"
#include "signer.h"

#include <fcntl.h>
#include <sodium.h>
#include <sys/stat.h>

int key_init(void)
{
	return sodium_init() < 0 ? -EIO : 0;
}

static void *locked(size_t n)
{
	void *p = sodium_malloc(n);

	if (!p)
		abort(); /* as alloc.h: there, or the process is not */
	return p;
}

static void locked_freep(void *p)
{
	sodium_free(*(void **)p); /* wipes */
}
#define _cleanup_locked_ _cleanup_(locked_freep)

struct signer *key_from_seed(const uint8_t seed[KEY_SEED_LEN], const char *name,
			     const char *prefix, enum key_type type)
{
	struct signer *s = xcalloc(1, sizeof(*s));
	char own[NAME_MAX_LEN + 1];
	uint8_t pk[PK_LEN];

	s->secret = locked(crypto_sign_SECRETKEYBYTES);
	(void)crypto_sign_seed_keypair(pk, s->secret, seed); /* always 0 */
	name_of_key(own, prefix ? prefix : "", pk);
	vkey_make(&s->v, name ? name : own, type, pk);
	return s;
}

struct signer *key_new(const char *name, const char *prefix, enum key_type type)
{
	_cleanup_locked_ uint8_t *seed = locked(KEY_SEED_LEN);

	randombytes_buf(seed, KEY_SEED_LEN);
	return key_from_seed(seed, name, prefix, type);
}

void key_free(struct signer *s)
{
	if (!s)
		return;
	if (s->by)
		signing_forget(s);
	sodium_free(s->secret); /* takes NULL */
	free(s);
}

static int create_secret(int dirfd, const char *file)
{
	int fd = openat(dirfd, file, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);

	return fd < 0 ? -errno : fd;
}

int key_save(const struct signer *s, int dirfd, const char *file)
{
	_cleanup_locked_ uint8_t *text = locked(KEY_FILE_LEN);
	_cleanup_fd_ int fd = -1;
	int r;

	(void)crypto_sign_ed25519_sk_to_seed(text, s->secret); /* always 0 */
	memcpy(text + KEY_SEED_LEN, s->v.id, KEY_ID_LEN);
	fd = create_secret(dirfd, file);
	if (fd < 0)
		return fd;
	r = fd_write_all(fd, text, KEY_FILE_LEN);
	if (r < 0)
		return r;
	return fsync(fd) < 0 || fsync(dirfd) < 0 ? -errno : 0;
}

int key_save_remote(const struct signer *s, int dirfd, const char *file)
{
	_cleanup_fd_ int fd = create_secret(dirfd, file);
	int r;

	if (fd < 0)
		return fd;
	r = signing_save_key(s, fd);
	if (r < 0)
		return r;
	return fsync(fd) < 0 || fsync(dirfd) < 0 ? -errno : 0;
}

/* Whoever can read the key can write history: a loose mode is an error, not a warning. */
static int open_secret(int dirfd, const char *file)
{
	_cleanup_fd_ int fd = -1;
	struct stat st;

	fd = openat(dirfd, file, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	if (fd < 0)
		return -errno;
	if (fstat(fd, &st) < 0)
		return -errno;
	if (!S_ISREG(st.st_mode) || st.st_uid != geteuid() || st.st_mode & 077)
		return -EPERM;
	return TAKE_FD(fd);
}

int key_load(int dirfd, const char *file, const char *name, const char *prefix,
	     enum key_type type, struct signer **ret)
{
	_cleanup_locked_ uint8_t *text = locked(KEY_FILE_LEN + 1);
	_cleanup_key_ struct signer *s = NULL;
	_cleanup_fd_ int fd = -1;
	ssize_t n;

	fd = open_secret(dirfd, file);
	if (fd < 0)
		return fd;
	n = read(fd, text, KEY_FILE_LEN + 1);
	if (n != KEY_FILE_LEN)
		return n < 0 ? -errno : -EKEYREJECTED;
	s = key_from_seed(text, name, prefix, type);
	if (memcmp(text + KEY_SEED_LEN, s->v.id, KEY_ID_LEN))
		return -EKEYREJECTED;
	*ret = TAKE_PTR(s);
	return 0;
}

int key_load_remote(struct signing *p, int dirfd, const char *file, const struct vkey *want,
		    struct signer **ret)
{
	_cleanup_key_ struct signer *s = NULL;
	_cleanup_fd_ int fd = -1;
	int r;

	fd = open_secret(dirfd, file);
	if (fd < 0)
		return fd;
	r = signing_load_key(p, fd, want->name, &s);
	if (r < 0)
		return r;
	if (memcmp(s->v.pk, want->pk, PK_LEN))
		return -EKEYREJECTED;
	*ret = TAKE_PTR(s);
	return 0;
}

int key_replace(int dirfd, const char *from, const char *to)
{
	static const uint8_t zeros[KEY_FILE_LEN];
	_cleanup_fd_ int old = -1;

	old = openat(dirfd, to, O_WRONLY | O_CLOEXEC | O_NOFOLLOW);
	if (old < 0 && errno != ENOENT)
		return -errno;
	if (renameat(dirfd, from, dirfd, to) < 0 || fsync(dirfd) < 0)
		return -errno;
	if (old < 0)
		return 0;
	/* the new key is in force already: a failure here must not undo that */
	(void)!pwrite(old, zeros, sizeof(zeros), 0);
	(void)fsync(old);
	return 0;
}
