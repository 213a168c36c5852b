/* SPDX-License-Identifier: MIT */
/*
 * What a run did to files: each test feeds lines of events and names, per
 * path, what must be known of it at the end.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "agg/launcher.h"
#include "agg/session.h"
#include "base/cur.h"
#include "event/line.h"

#define BEGIN "{'t':'begin','b':10,'pid':1,'uid':1000,'workspace':'/w','home':'/home/u'}"

static struct session *s;

static int setup(void **state)
{
	(void)state;
	s = session_new();
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	session_free(s);
	return 0;
}

/* Lines with ' for ", so that a test can be read. */
static void feed(const char *line)
{
	_cleanup_buf_ struct buf text = BUF_INIT, store = BUF_INIT;
	struct event e;
	struct diag d;

	buf_addstr(&text, line);
	for (size_t i = 0; i < text.len; i++)
		if (text.data[i] == '\'')
			text.data[i] = '"';
	if (event_from_line(text.data, text.len, &store, &d, &e) < 0)
		fail_msg("%s: %s", line, d.msg);
	session_event(s, &e);
}

#define FEED(...)                                                              \
	do {                                                                   \
		const char *lines_[] = { __VA_ARGS__ };                        \
		for (size_t i_ = 0; i_ < ARRAY_SIZE(lines_); i_++)             \
			feed(lines_[i_]);                                      \
	} while (0)

/* "r w created removed renamed temporary" as letters, by path, in the order of appearance. */
static void is(const char *want)
{
	static const struct {
		uint32_t deed;
		char letter;
	} letters[] = {
		{ DEED_READ, 'r' }, { DEED_WROTE, 'w' }, { DEED_BORN, '+' },
		{ DEED_GONE, '-' }, { DEED_RENAMED, '>' },
	};
	_cleanup_buf_ struct buf got = BUF_INIT;

	for (size_t i = 0; i < s->files.n; i++) {
		const struct file *f = s->files.files[i];

		if (!tally_counts(f))
			continue;
		tally_path(&s->files, f, &got);
		buf_addch(&got, ' ');
		for (size_t k = 0; k < ARRAY_SIZE(letters); k++)
			if (f->deeds & letters[k].deed)
				buf_addch(&got, letters[k].letter);
		buf_addch(&got, '\n');
	}
	assert_string_equal(buf_str(&got), want);
}

#define OBJ(ino) "'dev':1,'ino':" #ino ",'gen':1"

static void an_open_is_no_read(void **state)
{
	(void)state;
	FEED("{'t':'open','b':1,'pid':1,'path':'/w/a'," OBJ(5) ",'access':'rw'}");
	is("");
}

static void a_file_is_counted_once_by_its_object(void **state)
{
	(void)state;
	FEED("{'t':'read','b':1,'pid':1,'path':'/w/a'," OBJ(5) "}",
	     "{'t':'read','b':1,'pid':2,'path':'/w/a'," OBJ(5) "}",
	     "{'t':'read','b':1,'pid':2,'path':'/mnt/w/a'," OBJ(5) "}", /* a bind mount */
	     "{'t':'repeat','b':1,'pid':2," OBJ(5) ",'ops':3}",
	     "{'t':'write','b':1,'pid':2," OBJ(5) "}");
	is("/w/a rw\n");
	assert_int_equal(s->ops[EV_READ], 6);
	assert_int_equal(s->ops[EV_WRITE], 1);
}

static void a_file_without_object_is_counted_by_its_path(void **state)
{
	(void)state;
	FEED("{'t':'read','b':1,'pid':1,'path':'/w/a'}", "{'t':'write','b':1,'pid':1,'path':'/w/a'}",
	     "{'t':'read','b':1,'pid':1,'path':'/w/b'}");
	is("/w/a rw\n/w/b r\n");
}

static void a_repeat_alone_is_a_read(void **state)
{
	(void)state;
	FEED("{'t':'open','b':1,'pid':1,'path':'/w/a'," OBJ(5) ",'access':'r'}",
	     "{'t':'repeat','b':1,'pid':1," OBJ(5) ",'ops':2}");
	is("/w/a r\n");
}

static void an_unknown_object_is_a_file_without_a_name(void **state)
{
	(void)state;
	FEED("{'t':'read','b':1,'pid':1," OBJ(5) "}", "{'t':'read','b':1,'pid':1," OBJ(5) "}");
	is(" r\n");
}

static void a_temporary_renamed_onto_a_file_is_a_write_of_that_file(void **state)
{
	(void)state;
	FEED("{'t':'read','b':1,'pid':1,'path':'/w/a.ts'," OBJ(5) "}",
	     "{'t':'create','b':1,'pid':1,'path':'/w/a.ts.tmp'}",
	     "{'t':'write','b':1,'pid':1,'path':'/w/a.ts.tmp'," OBJ(6) "}",
	     "{'t':'rename','b':1,'pid':1,'path':'/w/a.ts.tmp','to':'/w/a.ts'," OBJ(6)
	     ",'over_dev':1,'over_ino':5,'over_gen':1}",
	     "{'t':'write','b':1,'pid':1," OBJ(6) "}", /* still open */
	     "{'t':'read','b':1,'pid':1," OBJ(5) "}");	/* so is the old one */
	is("/w/a.ts rw\n");
}

static void replacing_an_unseen_file_is_no_creation(void **state)
{
	(void)state;
	FEED("{'t':'create','b':1,'pid':1,'path':'/w/t1'," OBJ(6) "}",
	     "{'t':'rename','b':1,'pid':1,'path':'/w/t1','to':'/w/old'," OBJ(6)
	     ",'over_dev':1,'over_ino':5,'over_gen':1}",
	     "{'t':'create','b':1,'pid':1,'path':'/w/t2'," OBJ(7) "}",
	     "{'t':'rename','b':1,'pid':1,'path':'/w/t2','to':'/w/new'," OBJ(7) "}");
	is("/w/old w\n/w/new w+\n");
}

static void the_same_temporary_name_serves_many_files(void **state)
{
	(void)state;
	FEED("{'t':'create','b':1,'pid':1,'path':'/w/t'}",
	     "{'t':'rename','b':1,'pid':1,'path':'/w/t','to':'/w/a','unproven':1}",
	     "{'t':'create','b':1,'pid':1,'path':'/w/t'}",
	     "{'t':'rename','b':1,'pid':1,'path':'/w/t','to':'/w/b','unproven':1}",
	     "{'t':'create','b':1,'pid':1,'path':'/w/t'}",
	     "{'t':'rename','b':1,'pid':1,'path':'/w/t','to':'/w/a','unproven':1}");
	is("/w/b w+\n/w/a w+\n");
	assert_int_equal(s->files.unproven, 3);
}

static void made_and_removed_is_temporary(void **state)
{
	struct counts c;

	(void)state;
	FEED(BEGIN, "{'t':'create','b':1,'pid':1,'path':'/w/t'," OBJ(6) "}",
	     "{'t':'write','b':1,'pid':1,'path':'/w/t'," OBJ(6) "}",
	     "{'t':'unlink','b':1,'pid':1,'path':'/w/t'," OBJ(6) "}");
	session_count(s, &c);
	assert_int_equal(c.zone[ZONE_WORKSPACE].temporary, 1);
	assert_int_equal(c.zone[ZONE_WORKSPACE].written, 0);
	assert_int_equal(c.zone[ZONE_WORKSPACE].created, 0);
	assert_int_equal(c.zone[ZONE_WORKSPACE].removed, 0);
}

static void removed_and_made_again_is_a_write(void **state)
{
	(void)state;
	FEED("{'t':'unlink','b':1,'pid':1,'path':'/w/a'," OBJ(5) "}",
	     "{'t':'create','b':1,'pid':1,'path':'/w/a'," OBJ(6) "}");
	is("/w/a w\n");
}

static void an_inode_used_again_is_another_file(void **state)
{
	(void)state;
	FEED("{'t':'read','b':1,'pid':1,'path':'/w/a'," OBJ(5) "}",
	     "{'t':'unlink','b':1,'pid':1,'path':'/w/a'," OBJ(5) "}",
	     "{'t':'create','b':1,'pid':1,'path':'/w/b'}",
	     "{'t':'write','b':1,'pid':1,'path':'/w/b'," OBJ(5) "}");
	is("/w/a r-\n/w/b w+\n");
}

static void a_backup_is_a_rename_and_a_write(void **state)
{
	(void)state;
	FEED("{'t':'rename','b':1,'pid':1,'path':'/w/a','to':'/w/a.bak'," OBJ(5) "}",
	     "{'t':'create','b':1,'pid':1,'path':'/w/a'," OBJ(6) "}");
	is("/w/a.bak w>\n/w/a w\n");
	assert_memory_equal(s->files.files[3]->from.p, "/w/a", 4);
}

static void a_renamed_folder_carries_what_is_below(void **state)
{
	(void)state;
	FEED("{'t':'mkdir','b':1,'pid':1,'path':'/w/d','mode':16877}",
	     "{'t':'create','b':1,'pid':1,'path':'/w/d/x/y'," OBJ(5) "}",
	     "{'t':'read','b':1,'pid':1,'path':'/w/d/z'," OBJ(6) "}",
	     "{'t':'rename','b':1,'pid':1,'path':'/w/d','to':'/w/e','unproven':1}",
	     "{'t':'write','b':1,'pid':1,'path':'/w/e/z'," OBJ(6) "}",
	     "{'t':'write','b':1,'pid':1," OBJ(5) "}",
	     "{'t':'read','b':1,'pid':1,'path':'/w/d/z'," OBJ(7) "}"); /* a new one */
	is("/w/e/x/y w+\n/w/e/z rw\n/w/d/z r\n");
}

static void an_unknown_folder_is_known_by_its_mode(void **state)
{
	(void)state;
	FEED("{'t':'rename','b':1,'pid':1,'path':'/w/d','to':'/w/e','mode':16877}");
	is("");
}

static void exchange_writes_both(void **state)
{
	(void)state;
	FEED("{'t':'read','b':1,'pid':1,'path':'/w/a'," OBJ(5) "}",
	     "{'t':'rename','b':1,'pid':1,'path':'/w/a','to':'/w/b'," OBJ(5) ",'exchange':1}",
	     "{'t':'read','b':1,'pid':1,'path':'/w/a'," OBJ(6) "}");
	is("/w/b rw\n/w/a rw\n");
}

static void a_link_is_a_write_of_the_new_name(void **state)
{
	(void)state;
	FEED("{'t':'create','b':1,'pid':1,'path':'/w/tmp'," OBJ(5) "}",
	     "{'t':'link','b':1,'pid':1,'path':'/w/tmp','to':'/w/obj'," OBJ(5) "}",
	     "{'t':'unlink','b':1,'pid':1,'path':'/w/tmp'," OBJ(5) "}",
	     "{'t':'read','b':1,'pid':1," OBJ(5) "}");
	is("/w/tmp w+-\n/w/obj rw+\n");
}

static void renames_that_cannot_be_are_counted_not_followed(void **state)
{
	(void)state;
	FEED("{'t':'rename','b':1,'pid':1,'path':'/w/a','to':'/w/a/b'}",
	     "{'t':'rename','b':1,'pid':1,'path':'/w/a/b','to':'/w/a'}",
	     "{'t':'rename','b':1,'pid':1,'path':'/w/a','to':'/w/a'}",
	     "{'t':'rename','b':1,'pid':1,'path':'/','to':'/w/a'}",
	     "{'t':'rename','b':1,'pid':1,'path':'/w/a'}");
	is("");
	assert_int_equal(s->files.overflow, 2);
}

static void names_beyond_the_limit_are_counted(void **state)
{
	struct event e = { .kind = EV_READ, .have = EF(PID) | EF(PATH) };
	char path[32];

	(void)state;
	for (unsigned i = 0; i < MAX_TALLY_NAMES + 10; i++) {
		snprintf(path, sizeof(path), "/%u", i);
		e.path = str_of(path);
		session_event(s, &e);
	}
	assert_int_equal(s->files.n, MAX_TALLY_NAMES);
	assert_int_equal(session_overflow(s), 12); /* two roots are in the tree */
	assert_int_equal(s->ops[EV_READ], MAX_TALLY_NAMES + 10);
}

static void peers_beyond_the_limit_are_counted(void **state)
{
	struct event e = { .kind = EV_CONNECT, .proto = str_of("tcp"), .addr = str_of("10.0.0.1") };

	(void)state;
	e.have = EF(PID) | EF(PROTO) | EF(ADDR) | EF(PORT);
	for (e.port = 0; e.port < MAX_SESSION_PEERS + 5; e.port++)
		session_event(s, &e);
	assert_int_equal(session_peers(s), MAX_SESSION_PEERS);
	assert_int_equal(session_overflow(s), 5);
}

static void only_who_leaves_the_host_is_network(void **state)
{
	struct counts c;

	(void)state;
	FEED("{'t':'connect','b':1,'pid':1,'proto':'tcp','addr':'127.0.0.1','port':80}",
	     "{'t':'connect','b':1,'pid':1,'proto':'tcp','addr':'127.9.9.9','port':80}",
	     "{'t':'connect','b':1,'pid':1,'proto':'tcp','addr':'::1','port':80}",
	     "{'t':'connect','b':1,'pid':1,'proto':'unix','addr':'/run/x'}",
	     "{'t':'send','b':1,'pid':1,'proto':'netlink'}",
	     "{'t':'bind','b':1,'pid':1,'proto':'tcp','addr':'0.0.0.0','port':80}",
	     "{'t':'connect','b':1,'pid':1,'proto':'tcp','addr':'93.184.216.34','port':443}",
	     "{'t':'connect','b':1,'pid':1,'proto':'tcp','addr':'93.184.216.34','port':443}",
	     "{'t':'send','b':1,'pid':1,'proto':'udp','addr':'2001:db8::1','port':53}");
	session_count(s, &c);
	assert_int_equal(c.requests, 3);
	assert_int_equal(session_peers(s), 2);
}

static void zones_depend_on_what_was_done(void **state)
{
	struct counts c;

	(void)state;
	FEED(BEGIN, "{'t':'read','b':1,'pid':1,'path':'/w/src/a'}",
	     "{'t':'read','b':1,'pid':1,'path':'/home/u/.bashrc'}",
	     "{'t':'write','b':1,'pid':1,'path':'/home/u/.bashrc'}",
	     "{'t':'read','b':1,'pid':1,'path':'/home/u/.ssh/id_ed25519'}",
	     "{'t':'read','b':1,'pid':1,'path':'/usr/lib/x.so'}", "{'t':'read','b':1,'pid':1,'dev':1,'ino':9,'gen':1}");
	session_count(s, &c);
	assert_int_equal(c.zone[ZONE_WORKSPACE].read, 1);
	assert_int_equal(c.zone[ZONE_HOME].read, 2); /* the key is there too */
	assert_int_equal(c.zone[ZONE_PERSIST].written, 1);
	assert_int_equal(c.zone[ZONE_SECRET].read, 1);
	assert_int_equal(c.zone[ZONE_SYSTEM].read, 1);
	assert_int_equal(c.zone[ZONE_COUNT].read, 1);
}

static void a_record_without_end_or_with_losses_is_not_complete(void **state)
{
	(void)state;
	FEED(BEGIN);
	assert_false(session_complete(s));
	FEED("{'t':'gap','b':1,'from':1,'why':'before-attach'}",
	     "{'t':'end','b':20,'code':0,'lost':{}}");
	assert_true(session_complete(s));
	FEED("{'t':'gap','b':1,'from':1,'why':'restart'}");
	assert_false(session_complete(s));
	session_free(s);
	s = session_new();
	FEED(BEGIN, "{'t':'end','b':20,'code':0,'lost':{'ring':{'file':1}}}");
	assert_false(session_complete(s));
	session_free(s);
	s = session_new();
	FEED(BEGIN, "{'t':'end','b':20,'code':0,'lost':null}");
	assert_false(session_complete(s));
	session_free(s);
	s = session_new();
	FEED(BEGIN, "{'t':'end','b':20,'code':0}");
	assert_false(session_complete(s));
}

static void the_command_s_own_exit_wins(void **state)
{
	(void)state;
	FEED(BEGIN, "{'t':'exit','b':15,'pid':2,'code':9}", "{'t':'exit','b':16,'pid':1,'signal':15}",
	     "{'t':'end','b':20,'code':3,'lost':{}}");
	assert_true(s->has_exit && s->killed);
	assert_int_equal(s->signal, 15);
}

static void a_pid_used_again_is_a_new_process(void **state)
{
	const struct process *p = NULL;
	size_t depth = 0, n = 0;

	(void)state;
	FEED(BEGIN, "{'t':'fork','b':11,'pid':1,'child':2}",
	     "{'t':'exec','b':12,'pid':2,'path':'/a','argv':['a']}", "{'t':'exit','b':13,'pid':2,'code':0}",
	     "{'t':'fork','b':14,'pid':1,'child':2}", "{'t':'exec','b':15,'pid':2,'path':'/b','argv':['b']}",
	     "{'t':'fork','b':16,'pid':2,'child':3}", "{'t':'exit','b':17,'pid':7,'code':0}");
	while ((p = procs_next(&s->procs, p, &depth))) {
		static const struct {
			uint32_t pid;
			size_t depth;
		} want[] = { { 1, 0 }, { 2, 1 }, { 2, 1 }, { 3, 2 }, { 7, 0 } };

		assert_int_equal(p->pid, want[n].pid);
		assert_int_equal(depth, want[n].depth);
		n++;
	}
	assert_int_equal(n, 5);
}

static void the_first_tool_that_is_no_launcher_names_the_run(void **state)
{
	(void)state;
	FEED(BEGIN, "{'t':'exec','b':11,'pid':1,'path':'/usr/bin/sudo','argv':['sudo','npm','x','tsc']}",
	     "{'t':'tool','b':11,'pid':1,'path':'/usr/bin/sudo','name':'sudo'}");
	assert_memory_equal(session_name(s).p, "sudo", 4);
	FEED("{'t':'exec','b':12,'pid':1,'path':'/usr/bin/node','argv':['node','/usr/bin/npm','x','tsc']}",
	     "{'t':'tool','b':12,'pid':1,'path':'/usr/lib/node_modules/npm/bin/npm-cli.js','name':'npm','version':'9.2.0'}");
	assert_memory_equal(session_name(s).p, "npm", 3);
	FEED("{'t':'exec','b':13,'pid':1,'path':'/usr/bin/node','argv':['node','/w/node_modules/.bin/tsc']}",
	     "{'t':'tool','b':13,'pid':1,'path':'/w/node_modules/typescript/bin/tsc','name':'typescript','version':'5.0.4'}",
	     "{'t':'tool','b':14,'pid':1,'path':'/usr/bin/git','name':'git'}");
	assert_memory_equal(session_name(s).p, "typescript", 10);
	assert_memory_equal(session_headline(s)->version.p, "5.0.4", 5);
}

static void without_a_tool_the_executable_names_the_run(void **state)
{
	(void)state;
	FEED("{'t':'begin','b':10,'pid':1,'argv':['./x/y.sh','1']}");
	assert_memory_equal(session_name(s).p, "y.sh", 4);
	FEED("{'t':'exec','b':11,'pid':1,'path':'/opt/bin/z'}");
	assert_memory_equal(session_name(s).p, "z", 1);
}

static void launchers_are_told_from_tools(void **state)
{
#define S(text) { text, sizeof(text) - 1 }
	static const struct {
		struct str name, path, argv;
		bool launcher;
	} rows[] = {
		{ S("npm"), S("/l/npm/bin/npx-cli.js"), S("node\0/usr/bin/npx\0x\0"), true },
		{ S("npm"), S("/l/npm/bin/npm-cli.js"), S("node\0/usr/bin/npm\0exec\0x\0"), true },
		{ S("npm"), S("/l/npm/bin/npm-cli.js"), S("node\0/usr/bin/npm\0--silent\0run\0x\0"), true },
		{ S("npm"), S("/l/npm/bin/npm-cli.js"), S("node\0/usr/bin/npm\0install\0exec\0"), false },
		{ S("pnpm"), S("/l/pnpm/bin/pnpm.cjs"), S("node\0/usr/bin/pnpm\0dlx\0x\0"), true },
		{ S("dash"), S("/usr/bin/dash"), S("sh\0-c\0x\0"), true },
		{ S("bash"), S("/usr/bin/bash"), S("bash\0-ec\0x\0"), true },
		{ S("bash"), S("/usr/bin/bash"), S("bash\0-lc\0x\0"), true },
		{ S("bash"), S("/usr/bin/bash"), S("bash\0build.sh\0-c\0"), false },
		{ S("bash"), S("/usr/bin/bash"), S("bash\0--norc\0"), false },
		{ S("coreutils"), S("/usr/bin/env"), S("env\0A=1\0x\0"), true },
		{ S("coreutils"), S("/usr/bin/timeout"), S("timeout\0001\0x\0"), true },
		{ S("coreutils"), S("/usr/bin/cat"), S("cat\0/usr/bin/env\0"), false },
		{ S("prettier"), S("/w/node_modules/prettier/bin/prettier.cjs"), S("node\0x\0"), false },
		{ S("environment"), S("/usr/bin/environment"), S("environment\0"), false },
		{ S(""), S(""), S(""), false },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		if (launcher_is(rows[i].name, rows[i].path, rows[i].argv) != rows[i].launcher)
			fail_msg("row %zu", i);
}

static void a_deep_chain_of_processes_is_walked_without_a_stack(void **state)
{
	struct event e = { .kind = EV_FORK, .have = EF(PID) | EF(CHILD) };
	const struct process *p = NULL;
	size_t depth = 0, n = 0;

	(void)state;
	for (uint32_t pid = 1; pid <= 70000; pid++) {
		e.pid = pid;
		e.child = pid + 1;
		session_event(s, &e);
	}
	while ((p = procs_next(&s->procs, p, &depth)))
		n++;
	assert_int_equal(n, MAX_PROCESSES);
	assert_true(session_overflow(s) > 0);
}

#define T(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
int main(void)
{
	const struct CMUnitTest tests[] = {
		T(an_open_is_no_read),
		T(a_file_is_counted_once_by_its_object),
		T(a_file_without_object_is_counted_by_its_path),
		T(a_repeat_alone_is_a_read),
		T(an_unknown_object_is_a_file_without_a_name),
		T(a_temporary_renamed_onto_a_file_is_a_write_of_that_file),
		T(replacing_an_unseen_file_is_no_creation),
		T(the_same_temporary_name_serves_many_files),
		T(made_and_removed_is_temporary),
		T(removed_and_made_again_is_a_write),
		T(an_inode_used_again_is_another_file),
		T(a_backup_is_a_rename_and_a_write),
		T(a_renamed_folder_carries_what_is_below),
		T(an_unknown_folder_is_known_by_its_mode),
		T(exchange_writes_both),
		T(a_link_is_a_write_of_the_new_name),
		T(renames_that_cannot_be_are_counted_not_followed),
		T(names_beyond_the_limit_are_counted),
		T(peers_beyond_the_limit_are_counted),
		T(only_who_leaves_the_host_is_network),
		T(zones_depend_on_what_was_done),
		T(a_record_without_end_or_with_losses_is_not_complete),
		T(the_command_s_own_exit_wins),
		T(a_pid_used_again_is_a_new_process),
		T(the_first_tool_that_is_no_launcher_names_the_run),
		T(without_a_tool_the_executable_names_the_run),
		T(launchers_are_told_from_tools),
		T(a_deep_chain_of_processes_is_walked_without_a_stack),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
