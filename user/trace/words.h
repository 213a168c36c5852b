/* SPDX-License-Identifier: MIT */
/* What libbpf and the verifier say goes into a buffer and from there into a diag, never to a terminal. */
#ifndef TRACE_WORDS_H
#define TRACE_WORDS_H

#include "base/buf.h"
#include "base/diag.h"

#define MAX_WORDS (1u << 20) /* bytes kept; the verifier can say 16 MB */

void words_capture(void);      /* once: libbpf prints no more */
void words_to(struct buf *to); /* borrowed until the next call; NULL: nobody listens */

/* The program that the kernel refused, for the caller to free, or NULL. */
char *words_refused(const struct buf *words);
/* "what program: error; last words of the verifier". Returns err. `program` may be NULL. */
int words_explain(struct diag *d, int err, const char *what, const char *program,
		  const struct buf *words);

#endif
