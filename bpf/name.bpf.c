/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Names and attributes: the body of all tiers, and the hooks of tiers lsm and
 * fmod. A record says what was let through; whether it then worked is not
 * known there.
 */
#include "name.bpf.h"

#include "config.bpf.h"
#include "hook.bpf.h"

#define ATTR_MODE (1 << 0)
#define ATTR_UID  (1 << 1)
#define ATTR_GID  (1 << 2)
#define ATTR_SIZE (1 << 3)
#define ATTR_KILL (3 << 11) /* the kernel drops set-uid bits by itself */

static __always_inline void add_to_tail(struct scratch *s, const struct name_act *a)
{
	if (veil(s, a->flags & EV_F_UNPROVEN))
		add_user_string(s, a->to_tail, &s->name.to_tail);
	else
		add_string(s, a->to_tail, &s->name.to_tail);
}

__hidden void send_name(const struct name_act *a)
{
	struct scratch *s = rec_start(a->kind, EV_CLASS_NAME, sizeof(struct ev_name));

	if (!s)
		return;
	s->head.flags = a->flags;
	s->name.obj = a->obj;
	s->name.over = a->over;
	s->name.mode = a->mode;
	s->name.rdev = a->rdev;
	s->name.owner = a->owner;
	s->name.group = a->group;
	if (veil(s, a->at.dentry))
		add_path(s, a->at.dentry, a->at.mnt, &s->name.path);
	if (veil(s, a->tail))
		add_user_string(s, a->tail, &s->name.tail);
	if (veil(s, a->to.dentry))
		add_path(s, a->to.dentry, a->to.mnt, &s->name.to);
	if (veil(s, a->to_tail))
		add_to_tail(s, a);
	rec_send(s);
}

/* ---- where: path_X -------------------------------------------------------- */

static __always_inline int on_path(const struct path *dir)
{
	struct subject *subj = subject();

	if (subj)
		here(subj, (__u64)dir->mnt, dir->dentry->d_sb);
	return 0;
}

static __always_inline int on_path_rename(const struct path *dir, struct dentry *old,
					  unsigned int flags)
{
	struct subject *subj = subject();

	if (!subj)
		return 0;
	here(subj, (__u64)dir->mnt, dir->dentry->d_sb);
	subj->rename_flags = flags;
	subj->rename_old = (__u64)old;
	return 0;
}

HOOK(path_unlink, on_path(dir), const struct path *dir, struct dentry *dentry)
HOOK(path_mkdir, on_path(dir), const struct path *dir, struct dentry *dentry, umode_t mode)
HOOK(path_rmdir, on_path(dir), const struct path *dir, struct dentry *dentry)
HOOK(path_mknod, on_path(dir), const struct path *dir, struct dentry *dentry, umode_t mode,
     unsigned int dev)
HOOK(path_symlink, on_path(dir), const struct path *dir, struct dentry *dentry, const char *text)
HOOK(path_link, on_path(dir), struct dentry *old, const struct path *dir, struct dentry *dentry)
HOOK(path_rename, on_path_rename(dir, old, flags), const struct path *dir, struct dentry *old,
     const struct path *to_dir, struct dentry *to, unsigned int flags)
HOOK(path_chmod, on_path(path), const struct path *path, umode_t mode)
HOOK(path_chown, on_path(path), const struct path *path, unsigned int uid, unsigned int gid)
HOOK(path_truncate, on_path(path), const struct path *path)
HOOK(file_truncate, on_path(&file->f_path), struct file *file)

/* ---- what: inode_X -------------------------------------------------------- */

/*
 * The mount of a name operation; false: it is one of overlay's own, on a
 * layer. An overlay that no path_X announced (utimes) announces itself.
 */
static __always_inline bool find_mount(struct subject *subj, struct super_block *sb, __u64 *ret_mnt)
{
	*ret_mnt = 0;
	if (subj->sb == (__u64)sb) {
		*ret_mnt = subj->mnt;
		return true;
	}
	if (subj->overlay)
		return false;
	if (sb->s_magic == OVERLAYFS_MAGIC)
		here(subj, 0, sb);
	return true;
}

static __always_inline bool start(struct name_act *a, __u32 kind, struct dentry *dentry)
{
	struct subject *subj = subject();
	struct inode *inode;

	if (!subj || !find_mount(subj, dentry->d_sb, &a->at.mnt))
		return false;
	a->kind = kind;
	a->at.dentry = (__u64)dentry;
	inode = dentry->d_inode;
	if (inode)
		see_inode(inode, &a->obj);
	return true;
}

static __always_inline int on_name(__u32 kind, struct dentry *dentry, __u32 mode, __u32 rdev)
{
	struct name_act a = { .rdev = rdev };

	if (!start(&a, kind, dentry))
		return 0;
	if (mode)
		a.mode = after_umask(mode);
	send_name(&a);
	return 0;
}

static __always_inline int on_symlink(struct dentry *dentry, const char *text)
{
	struct name_act a = { .to_tail = (__u64)text };

	if (start(&a, EV_SYMLINK, dentry))
		send_name(&a);
	return 0;
}

static __always_inline int on_link(struct dentry *old, struct dentry *to)
{
	struct name_act a = {};

	if (!start(&a, EV_LINK, old))
		return 0;
	a.to.dentry = (__u64)to;
	a.to.mnt = a.at.mnt;
	send_name(&a);
	return 0;
}

/* An exchange comes twice in tier lsm, the second time as the caller meant it. */
static __always_inline int on_rename(struct dentry *old, struct dentry *to)
{
	struct subject *subj = subject();
	struct name_act a = {};
	struct inode *inode;

	if (!start(&a, EV_RENAME, old) || !subj)
		return 0;
	if (subj->rename_flags & RENAME_EXCHANGE) {
		if (subj->rename_old != (__u64)old)
			return 0;
		a.flags |= EV_F_EXCHANGE;
	}
	if (subj->rename_flags & RENAME_WHITEOUT)
		a.flags |= EV_F_WHITEOUT;
	inode = to->d_inode;
	if (inode)
		see_inode(inode, &a.over);
	a.to.dentry = (__u64)to;
	a.to.mnt = a.at.mnt;
	send_name(&a);
	return 0;
}

static __always_inline void on_resize(struct name_act *n, struct iattr *attr)
{
	struct file_act a = {
		.obj = n->obj, .at = n->at, .bytes = attr->ia_size, .flags = EV_F_BYTES,
	};

	send_truncate(&a, 0);
}

static __always_inline int on_setattr(struct dentry *dentry, struct iattr *attr)
{
	__u32 valid = attr->ia_valid;
	struct name_act a = { .owner = NOBODY, .group = NOBODY };

	if (!start(&a, EV_CHOWN, dentry))
		return 0;
	if (valid & ATTR_SIZE)
		on_resize(&a, attr);
	if (valid & ATTR_UID)
		a.owner = attr->ia_uid.val;
	if (valid & ATTR_GID)
		a.group = attr->ia_gid.val;
	if (valid & (ATTR_UID | ATTR_GID))
		send_name(&a);
	if (!(valid & ATTR_MODE) || valid & ATTR_KILL)
		return 0;
	a.kind = EV_CHMOD;
	a.mode = attr->ia_mode & S_PERMS;
	send_name(&a);
	return 0;
}

HOOK(inode_create, on_name(EV_CREATE, dentry, mode | S_IFREG, 0), struct inode *dir,
     struct dentry *dentry, umode_t mode)
HOOK(inode_mkdir, on_name(EV_MKDIR, dentry, mode | S_IFDIR, 0), struct inode *dir,
     struct dentry *dentry, umode_t mode)
HOOK(inode_mknod, on_name(EV_MKNOD, dentry, mode, dev), struct inode *dir, struct dentry *dentry,
     umode_t mode, unsigned int dev)
HOOK(inode_unlink, on_name(EV_UNLINK, dentry, 0, 0), struct inode *dir, struct dentry *dentry)
HOOK(inode_rmdir, on_name(EV_RMDIR, dentry, 0, 0), struct inode *dir, struct dentry *dentry)
HOOK(inode_symlink, on_symlink(dentry, text), struct inode *dir, struct dentry *dentry,
     const char *text)
HOOK(inode_link, on_link(old, to), struct dentry *old, struct inode *dir, struct dentry *to)
LSM(inode_rename, on_rename(old, to), struct inode *dir, struct dentry *old, struct inode *to_dir,
    struct dentry *to)
MOD(inode_rename, inode_rename, on_rename(old, to), struct inode *dir, struct dentry *old,
    struct inode *to_dir, struct dentry *to, unsigned int flags)

/* The idmap or namespace in front is there or not: see config.bpf.h. */
static __always_inline int setattr_args(unsigned long long *ctx, bool three)
{
	if (three) {
		asm volatile("" : "+r"(ctx)); /* keeps the two layouts two constant offsets */
		if ((int)ctx[3])
			return ctx[3];
		return on_setattr((struct dentry *)ctx[1], (struct iattr *)ctx[2]);
	}
	if ((int)ctx[2])
		return ctx[2];
	return on_setattr((struct dentry *)ctx[0], (struct iattr *)ctx[1]);
}

SEC("?lsm/inode_setattr")
int lsm_inode_setattr(unsigned long long *ctx)
{
	return setattr_args(ctx, cfg_setattr_lsm3);
}

SEC("?fmod_ret/security_inode_setattr")
int mod_inode_setattr(unsigned long long *ctx)
{
	return setattr_args(ctx, cfg_setattr_mod3);
}
