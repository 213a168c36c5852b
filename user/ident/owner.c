/* SPDX-License-Identifier: MIT */
/* The table of package owners, see owner.h. */
#include "owner.h"

#include "base/macros.h"

#include <errno.h>

typedef int (*owner_fn)(const char *path, struct package *ret);

/* The closest to the file first: npm's own folder below /usr/share is npm's. */
static const owner_fn owners[] = {
	owner_npm,
	owner_deb,
};

int owner_find(const char *path, struct package *ret)
{
	for (size_t i = 0; i < ARRAY_SIZE(owners); i++)
		if (owners[i](path, ret) == 0)
			return 0;
	return -ENOENT;
}

void package_done(struct package *p)
{
	free(p->name);
	free(p->version);
	free(p->purl);
	free(p->root);
	*p = (struct package){ 0 };
}
