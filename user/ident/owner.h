/* SPDX-License-Identifier: MIT */
/*
 * Which package a file belongs to. One row per ecosystem in owner.c; a new one
 * is one file and one row. What is read is what the files say: whoever can
 * write them can lie about the name, so a name is for people and for
 * comparison, never a reason to allow something.
 */
#ifndef IDENT_OWNER_H
#define IDENT_OWNER_H

#define MAX_PACKAGE_NAME    214 /* npm's limit; longer ones are ignored */
#define MAX_PACKAGE_VERSION 256 /* npm's limit */

/* Strings owned by the holder; all NULL: not known. */
struct package {
	char *name, *version, *purl;
	char *root; /* folder that holds the package and nothing else, or NULL */
};

void package_done(struct package *p);

/*
 * path is absolute and resolved. Reads with the rights that the thread has.
 * -ENOENT: no package known; *ret is then untouched.
 */
int owner_find(const char *path, struct package *ret);

int owner_npm(const char *path, struct package *ret); /* nearest package.json upwards */
int owner_deb(const char *path, struct package *ret); /* Debian's list of files */

#endif
