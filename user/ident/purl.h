/* SPDX-License-Identifier: MIT */
/* Package URLs: pkg:type/namespace/name@version, each part percent-encoded. */
#ifndef IDENT_PURL_H
#define IDENT_PURL_H

/* ns may be NULL. The caller frees. */
char *purl_make(const char *type, const char *ns, const char *name, const char *version);

#endif
