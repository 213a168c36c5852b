/* SPDX-License-Identifier: MIT */
/* Pieces of sentences, see say.h. */
#include "say.h"

#include "base/esc.h"
#include "base/timeutil.h"

void say_count(struct buf *to, uint64_t n, const char *one, const char *many)
{
	buf_addu64(to, n);
	buf_addch(to, ' ');
	buf_addstr(to, n == 1 ? one : many);
}

void say_duration(struct buf *to, uint64_t ns)
{
	uint64_t tenths = (ns + NS_PER_S / 20) / (NS_PER_S / 10), s = ns / NS_PER_S;

	if (s < 60)
		buf_addf(to, "%u.%u s", (unsigned)(tenths / 10), (unsigned)(tenths % 10));
	else
		buf_addf(to, "%llu min %u s", (unsigned long long)(s / 60), (unsigned)(s % 60));
}

void say_text(struct buf *to, struct str text)
{
	esc_tty(to, text.p, text.len);
}

void say_peer(struct buf *to, const struct peer_deed *p)
{
	bool six = p->has_port && p->addr.len && memchr(p->addr.p, ':', p->addr.len);

	say_text(to, p->proto);
	if (p->addr.len)
		buf_addch(to, ' ');
	buf_addstr(to, six ? "[" : "");
	say_text(to, p->addr);
	buf_addstr(to, six ? "]" : "");
	if (p->has_port)
		buf_addf(to, ":%u", p->port);
	if (p->name.len) {
		buf_addstr(to, " (");
		say_text(to, p->name);
		buf_addch(to, ')');
	}
}

/* Quotes are for blanks and for nothing at all; they are no shell quoting. */
void say_word(struct buf *to, struct str word)
{
	bool quote = !word.len || memchr(word.p, ' ', word.len) || memchr(word.p, '\'', word.len);

	buf_addstr(to, quote ? "'" : "");
	buf_add(to, word.p, word.len);
	buf_addstr(to, quote ? "'" : "");
}

void say_exit(struct buf *to, bool known, bool killed, uint32_t code, uint32_t signal)
{
	const char *name = sigabbrev_np((int)signal);

	if (!known)
		buf_addstr(to, "exit unknown");
	else if (!killed)
		buf_addf(to, "exit %u", code);
	else if (name)
		buf_addf(to, "killed by %s", name);
	else
		buf_addf(to, "killed by signal %u", signal);
}
