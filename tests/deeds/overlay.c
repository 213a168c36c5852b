/* SPDX-License-Identifier: MIT */
/*
 * The same deeds through overlayfs, which opens and writes a second, inner
 * file: a tracer must report one deed, on the outer path.
 */
#include "deed.h"

SETUP(ovl_open_rdonly_lower) { mount_overlay(); }
ACT(ovl_open_rdonly_lower) { return open("m/x", O_RDONLY); }

SETUP(ovl_open_wronly_copyup) { mount_overlay(); }
ACT(ovl_open_wronly_copyup) { return open("m/x", O_WRONLY); }
CHECK(ovl_open_wronly_copyup) { return exists("u/x"); }

SETUP(ovl_read_lower)
{
	mount_overlay();
	t.fd = open("m/x", O_RDONLY);
}
ACT(ovl_read_lower) { return read(t.fd, t.buf, 5); }

SETUP(ovl_write)
{
	mount_overlay();
	t.fd = open("m/x", O_RDWR);
}
ACT(ovl_write) { return write(t.fd, "Z", 1); }
CHECK(ovl_write) { return first_byte("u/x") == 'Z'; }

SETUP(ovl_unlink) { mount_overlay(); }
ACT(ovl_unlink) { return unlink("m/x"); }
CHECK(ovl_unlink) { return exists("m/x"); }

SETUP(ovl_mmap_shared_rw)
{
	mount_overlay();
	t.fd = open("m/x", O_RDWR);
}
ACT(ovl_mmap_shared_rw) { return map_of(t.fd, 3, MAP_SHARED); }

/* clang-format off */
const struct deed overlay_deeds[] = {
	SA(ovl_open_rdonly_lower),
	SAC(ovl_open_wronly_copyup),
	SA(ovl_read_lower),
	SAC(ovl_write),
	SAC(ovl_unlink),
	SA(ovl_mmap_shared_rw),
	{ NULL },
};
