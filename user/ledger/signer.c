/* SPDX-License-Identifier: MIT */
/*
 * The signing process and how it is asked, see signer.h. One packet asks, one
 * answers; a packet of another size, an unknown request or a wrong place ends
 * the process. After the start it allocates nothing.
 */
#include "signer.h"

#include "base/alloc.h"
#include "base/sandbox.h"
#include "key.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sodium.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#define TEXT_MAX 256 /* a name, a number and a root are at most 130 bytes */

enum ask_op { ASK_NEW, ASK_LOAD, ASK_SAVE, ASK_SIGN, ASK_FORGET, ASK_COUNT };

struct ask {
	uint32_t op, slot;
	uint64_t size;
	struct hash root;
	char name[NAME_MAX_LEN + 1];
};

struct answer {
	int32_t err;
	uint32_t slot;
	uint8_t bytes[SIG_LEN]; /* a public key or a signature */
};

/* ---- inside ------------------------------------------------------------------ */

struct slot {
	bool used;
	char name[NAME_MAX_LEN + 1];
	uint64_t last; /* largest size signed for this name */
	uint8_t id[KEY_ID_LEN];
};

/* What must not leave: in memory that is locked and, where there is such, hidden from the kernel. */
struct secrets {
	uint8_t key[SIGNER_MAX_KEYS][crypto_sign_SECRETKEYBYTES];
	uint8_t file[KEY_FILE_LEN + 1];
};

struct vault {
	struct slot slots[SIGNER_MAX_KEYS];
	struct secrets *s;
};

static struct secrets *map_secrets(void)
{
	size_t n = sizeof(struct secrets);
	void *p = MAP_FAILED;
	int fd = -1;

#ifdef SYS_memfd_secret
	fd = (int)syscall(SYS_memfd_secret, O_CLOEXEC);
#endif
	if (fd >= 0 && !ftruncate(fd, (off_t)n))
		p = mmap(NULL, n, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (fd >= 0)
		(void)close(fd); /* the mapping stays */
	if (p != MAP_FAILED)
		return p;
	p = sodium_malloc(n); /* locked, guarded, left out of core files */
	return p;
}

static struct slot *slot_of(struct vault *v, uint32_t i)
{
	return i < SIGNER_MAX_KEYS && v->slots[i].used ? &v->slots[i] : NULL;
}

/* Several keys may have one origin, while one follows the other. */
static void raise_last(struct vault *v, const char *name, uint64_t size)
{
	for (size_t i = 0; i < SIGNER_MAX_KEYS; i++)
		if (v->slots[i].used && !strcmp(v->slots[i].name, name))
			v->slots[i].last = MAX(v->slots[i].last, size);
}

static uint64_t last_of(const struct vault *v, const char *name)
{
	uint64_t last = 0;

	for (size_t i = 0; i < SIGNER_MAX_KEYS; i++)
		if (v->slots[i].used && !strcmp(v->slots[i].name, name))
			last = MAX(last, v->slots[i].last);
	return last;
}

static int free_slot(const struct vault *v)
{
	for (int i = 0; i < SIGNER_MAX_KEYS; i++)
		if (!v->slots[i].used)
			return i;
	return -ENOSPC;
}

/* The seed stands at the start of s->file. */
static int take_seed(struct vault *v, const struct ask *a, struct answer *to)
{
	struct vkey key;
	struct slot *s;
	int i = free_slot(v);

	if (i < 0)
		return i;
	s = &v->slots[i];
	*s = (struct slot){ .last = last_of(v, a->name) };
	memcpy(s->name, a->name, sizeof(s->name));
	(void)crypto_sign_seed_keypair(to->bytes, v->s->key[i], v->s->file); /* always 0 */
	vkey_make(&key, s->name, KEY_LOG, to->bytes);
	memcpy(s->id, key.id, sizeof(s->id));
	s->used = true;
	to->slot = (uint32_t)i;
	return 0;
}

static int do_new(struct vault *v, const struct ask *a, int fd, struct answer *to)
{
	(void)fd; /* nothing is read */
	randombytes_buf(v->s->file, KEY_SEED_LEN);
	return take_seed(v, a, to);
}

static void forget(struct vault *v, uint32_t i)
{
	sodium_memzero(v->s->key[i], sizeof(v->s->key[i]));
	v->slots[i] = (struct slot){ 0 };
}

static int do_load(struct vault *v, const struct ask *a, int fd, struct answer *to)
{
	ssize_t n;
	int r;

	n = read(fd, v->s->file, sizeof(v->s->file));
	if (n != KEY_FILE_LEN)
		return n < 0 ? -errno : -EKEYREJECTED;
	r = take_seed(v, a, to);
	if (r < 0)
		return r;
	if (!memcmp(v->s->file + KEY_SEED_LEN, v->slots[to->slot].id, KEY_ID_LEN))
		return 0;
	forget(v, to->slot);
	return -EKEYREJECTED;
}

static int do_save(struct vault *v, const struct ask *a, int fd, struct answer *to)
{
	const struct slot *s = slot_of(v, a->slot);
	ssize_t n;

	(void)to; /* done or not is the answer */
	if (!s)
		return -EINVAL;
	(void)crypto_sign_ed25519_sk_to_seed(v->s->file, v->s->key[a->slot]); /* always 0 */
	memcpy(v->s->file + KEY_SEED_LEN, s->id, KEY_ID_LEN);
	n = write(fd, v->s->file, KEY_FILE_LEN);
	if (n < 0)
		return -errno;
	return n == KEY_FILE_LEN ? 0 : -ENOSPC;
}

static int do_sign(struct vault *v, const struct ask *a, int fd, struct answer *to)
{
	struct checkpoint cp = { .size = a->size, .root = a->root };
	const struct slot *s = slot_of(v, a->slot);
	char text[TEXT_MAX];
	size_t n;

	(void)fd; /* nothing is read */
	if (!s)
		return -EINVAL;
	if (a->size <= s->last)
		return -EPERM;
	memcpy(cp.origin, s->name, sizeof(cp.origin));
	n = checkpoint_text(&cp, text, sizeof(text));
	(void)crypto_sign_detached(to->bytes, NULL, (uint8_t *)text, n, v->s->key[a->slot]); /* always 0 */
	raise_last(v, s->name, a->size);
	return 0;
}

static int do_forget(struct vault *v, const struct ask *a, int fd, struct answer *to)
{
	(void)fd, (void)to; /* there is nothing to tell */
	if (!slot_of(v, a->slot))
		return -EINVAL;
	forget(v, a->slot);
	return 0;
}

static const struct {
	bool wants_fd;
	int (*run)(struct vault *v, const struct ask *a, int fd, struct answer *to);
} asks[ASK_COUNT] = {
	[ASK_NEW] = { false, do_new },	 [ASK_LOAD] = { true, do_load },
	[ASK_SAVE] = { true, do_save },	 [ASK_SIGN] = { false, do_sign },
	[ASK_FORGET] = { false, do_forget },
};

/* 1 = a whole request; *ret_fd is the file that came with it, or -1. */
static int take_ask(int sock, struct ask *a, int *ret_fd)
{
	union {
		char bytes[CMSG_SPACE(sizeof(int))];
		struct cmsghdr align;
	} control;
	struct iovec io = { a, sizeof(*a) };
	struct msghdr m = { .msg_iov = &io, .msg_iovlen = 1, .msg_control = &control,
			    .msg_controllen = sizeof(control) };
	const struct cmsghdr *c;
	ssize_t n;

	*ret_fd = -1;
	n = recvmsg(sock, &m, MSG_CMSG_CLOEXEC);
	c = n > 0 ? CMSG_FIRSTHDR(&m) : NULL;
	if (c && c->cmsg_level == SOL_SOCKET && c->cmsg_type == SCM_RIGHTS)
		memcpy(ret_fd, CMSG_DATA(c), sizeof(*ret_fd));
	return n == sizeof(*a) && !(m.msg_flags & (MSG_TRUNC | MSG_CTRUNC)) &&
	       a->op < ASK_COUNT && asks[a->op].wants_fd == (*ret_fd >= 0) &&
	       !a->name[NAME_MAX_LEN];
}

static _Noreturn void serve(struct vault *v, int sock)
{
	struct ask a;
	int fd;

	while (take_ask(sock, &a, &fd)) {
		struct answer to = { 0 };

		to.err = asks[a.op].run(v, &a, fd, &to);
		sodium_memzero(v->s->file, sizeof(v->s->file));
		if (fd >= 0)
			(void)close(fd); /* what matters of it is synced by its owner */
		if (write(sock, &to, sizeof(to)) != sizeof(to))
			break;
	}
	sodium_memzero(v->s, sizeof(*v->s));
	_exit(0);
}

static _Noreturn void child_main(int sock)
{
	static const int calls[] = { SYS_recvmsg, SYS_read, SYS_write,	    SYS_close,
				     SYS_getrandom, SYS_exit_group, SYS_exit };
	struct vault v = { 0 };
	sigset_t all;

	(void)sigfillset(&all);
	(void)sigprocmask(SIG_BLOCK, &all, NULL); /* it ends with its socket, not before */
	(void)prctl(PR_SET_NAME, "deedlog-sign");
	v.s = map_secrets();
	/* without confinement no keys: the first request will find the socket closed */
	if (!v.s || sandbox_hide_memory() < 0 || sandbox_keep_only(sock) < 0 ||
	    sandbox_calls_only(calls, ARRAY_SIZE(calls)) < 0)
		_exit(1);
	serve(&v, sock);
}

/* ---- outside -------------------------------------------------------------------- */

struct signing {
	int sock;
	pid_t pid;
};

int signing_start(struct signing **ret)
{
	struct signing *p;
	int pair[2], err;
	pid_t pid;

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) < 0)
		return -errno;
	pid = fork();
	err = -errno;
	if (!pid)
		child_main(pair[1]);
	(void)close(pair[1]); /* the child's */
	if (pid < 0) {
		(void)close(pair[0]);
		return err;
	}
	p = xcalloc(1, sizeof(*p));
	*p = (struct signing){ pair[0], pid };
	*ret = p;
	return 0;
}

void signing_stop(struct signing *p)
{
	if (!p)
		return;
	closep(&p->sock);
	while (waitpid(p->pid, NULL, 0) < 0 && errno == EINTR)
		;
	free(p);
}

static int send_ask(const struct signing *p, const struct ask *a, int fd)
{
	union {
		char bytes[CMSG_SPACE(sizeof(int))];
		struct cmsghdr align;
	} control = { 0 };
	struct iovec io = { (void *)a, sizeof(*a) };
	struct msghdr m = { .msg_iov = &io, .msg_iovlen = 1 };

	if (fd >= 0) {
		struct cmsghdr *c;

		m.msg_control = &control;
		m.msg_controllen = sizeof(control.bytes);
		c = CMSG_FIRSTHDR(&m);
		c->cmsg_level = SOL_SOCKET;
		c->cmsg_type = SCM_RIGHTS;
		c->cmsg_len = CMSG_LEN(sizeof(fd));
		memcpy(CMSG_DATA(c), &fd, sizeof(fd));
	}
	while (sendmsg(p->sock, &m, MSG_NOSIGNAL) < 0)
		if (errno != EINTR)
			return -EPIPE;
	return 0;
}

static int ask(const struct signing *p, const struct ask *a, int fd, struct answer *ret)
{
	ssize_t n;
	int r;

	r = send_ask(p, a, fd);
	if (r < 0)
		return r;
	do
		n = read(p->sock, ret, sizeof(*ret));
	while (n < 0 && errno == EINTR);
	return n == sizeof(*ret) ? ret->err : -EPIPE;
}

static int ask_key(struct signing *p, enum ask_op op, int fd, const char *name,
		   struct signer **ret)
{
	struct ask a = { .op = op };
	struct answer got;
	struct signer *s;
	int r;

	(void)snprintf(a.name, sizeof(a.name), "%s", name); /* names fit */
	r = ask(p, &a, fd, &got);
	if (r < 0)
		return r;
	s = xcalloc(1, sizeof(*s));
	s->by = p;
	s->slot = got.slot;
	vkey_make(&s->v, name, KEY_LOG, got.bytes);
	*ret = s;
	return 0;
}

int signing_new_key(struct signing *p, const char *name, struct signer **ret)
{
	return ask_key(p, ASK_NEW, -1, name, ret);
}

int signing_load_key(struct signing *p, int fd, const char *name, struct signer **ret)
{
	return ask_key(p, ASK_LOAD, fd, name, ret);
}

int signing_save_key(const struct signer *s, int fd)
{
	struct ask a = { .op = ASK_SAVE, .slot = s->slot };
	struct answer got;

	return ask(s->by, &a, fd, &got);
}

int signing_sign(const struct signer *s, const struct checkpoint *cp, uint8_t sig[SIG_LEN])
{
	struct ask a = { .op = ASK_SIGN, .slot = s->slot, .size = cp->size, .root = cp->root };
	struct answer got;
	int r;

	r = ask(s->by, &a, -1, &got);
	if (!r)
		memcpy(sig, got.bytes, SIG_LEN);
	return r;
}

void signing_forget(const struct signer *s)
{
	struct ask a = { .op = ASK_FORGET, .slot = s->slot };
	struct answer got;

	(void)ask(s->by, &a, -1, &got); /* a process that is gone holds no key */
}
