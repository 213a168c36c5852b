/* SPDX-License-Identifier: MIT */
/* The extract of a kernel's BTF, from a small kernel made by hand. */
#include "trace/kbtf.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

static struct btf *kernel;
static int file_id, hook_id, second_id;

/*
 * struct qstr { u32 len; };                struct unwanted { u32 x; };
 * struct dentry { struct qstr d_name; struct unwanted *d_gone; u64 pad; };
 * struct file { const struct dentry d; };
 * int security_file_open(struct file *);   twice, as static functions may be
 * typedef void (*btf_trace_sys_exit)(void *, struct file *, long);
 * enum bpf_func_id { BPF_FUNC_unspec, BPF_FUNC_loop = 181 };
 */
static int set_up(void **state)
{
	int u32, qstr, unwanted, gone, dentry, konst, ptr, proto;

	(void)state;
	kernel = btf__new_empty();
	unwanted = btf__add_struct(kernel, "unwanted", 4);
	u32 = btf__add_int(kernel, "unsigned int", 4, 0);
	qstr = btf__add_struct(kernel, "qstr", 4);
	(void)btf__add_field(kernel, "len", u32, 0, 0);
	gone = btf__add_ptr(kernel, unwanted);
	dentry = btf__add_struct(kernel, "dentry", 24);
	(void)btf__add_field(kernel, "d_name", qstr, 0, 0);
	(void)btf__add_field(kernel, "d_gone", gone, 64, 0);
	konst = btf__add_const(kernel, dentry);
	file_id = btf__add_struct(kernel, "file", 24);
	(void)btf__add_field(kernel, "d", konst, 0, 0);
	ptr = btf__add_ptr(kernel, file_id);
	proto = btf__add_func_proto(kernel, u32);
	(void)btf__add_func_param(kernel, "file", ptr);
	hook_id = btf__add_func(kernel, "security_file_open", BTF_FUNC_STATIC, proto);
	(void)btf__add_func(kernel, "security_file_open", BTF_FUNC_STATIC, proto);
	proto = btf__add_func_proto(kernel, 0);
	(void)btf__add_func_param(kernel, "data", ptr);
	(void)btf__add_func_param(kernel, "file", ptr);
	(void)btf__add_func_param(kernel, "ret", u32);
	second_id = btf__add_typedef(kernel, "btf_trace_sys_exit", btf__add_ptr(kernel, proto));
	(void)btf__add_enum(kernel, "bpf_func_id", 4);
	(void)btf__add_enum_value(kernel, "BPF_FUNC_unspec", 0);
	(void)btf__add_enum_value(kernel, "BPF_FUNC_loop", 181);
	return second_id > 0 ? 0 : -1;
}

static int tear_down(void **state)
{
	(void)state;
	btf__free(kernel);
	return 0;
}

static struct btf *extract(void)
{
	const char *types[] = { "absent", "file" };
	const char *hooks[] = { "absent", "btf_trace_sys_exit", "security_file_open" };
	const char *values[] = { "BPF_FUNC_loop", "BPF_FUNC_none" };
	const struct kbtf_wish w = { { types, 2 }, { hooks, 3 }, { values, 2 }, 0xfeed };
	struct btf *b = NULL;

	assert_int_equal(kbtf_extract(kernel, &w, &b), 0);
	return b;
}

static const struct btf_type *type(const struct btf *b, const char *name)
{
	int id = btf__find_by_name_kind(b, name, BTF_KIND_STRUCT);

	return id < 0 ? NULL : btf__type_by_id(b, (uint32_t)id);
}

static void keeps_named_types_with_all_that_they_embed(void **state)
{
	struct btf *b = extract();
	const struct btf_type *file = type(b, "file"), *konst, *dentry;

	(void)state;
	assert_non_null(file);
	assert_int_equal(file->size, 24);
	konst = btf__type_by_id(b, btf_members(file)[0].type);
	assert_int_equal(btf_kind(konst), BTF_KIND_CONST);
	dentry = btf__type_by_id(b, konst->type);
	assert_string_equal(btf__name_by_offset(b, dentry->name_off), "dentry");
	assert_string_equal(btf__name_by_offset(b, btf_members(dentry)[1].name_off), "d_gone");
	assert_int_equal(btf_member_bit_offset(dentry, 1), 64);
	assert_int_equal(btf__resolve_size(b, btf_members(dentry)[0].type), 4);
	btf__free(b);
}

static void leaves_out_what_is_only_pointed_to(void **state)
{
	struct btf *b = extract();
	const struct btf_type *dentry = type(b, "dentry"), *ptr;

	(void)state;
	assert_null(type(b, "unwanted"));
	ptr = btf__type_by_id(b, btf_members(dentry)[1].type);
	assert_int_equal(btf_kind(ptr), BTF_KIND_PTR);
	assert_int_equal(ptr->type, 0);
	btf__free(b);
}

static void tells_ids_of_hooks_in_the_kernel(void **state)
{
	struct btf *b = extract();

	(void)state;
	assert_int_equal(kbtf_hook(b, "security_file_open"), hook_id);
	assert_int_equal(kbtf_hook(b, "btf_trace_sys_exit"), second_id);
	assert_int_equal(kbtf_hook(b, "absent"), 0);
	btf__free(b);
}

static void counts_parameters(void **state)
{
	struct btf *b = extract();

	(void)state;
	assert_int_equal(kbtf_params(b, "security_file_open"), 1);
	assert_int_equal(kbtf_params(b, "btf_trace_sys_exit"), 2);
	assert_int_equal(kbtf_params(b, "absent"), -1);
	btf__free(b);
}

static void tells_enumerators(void **state)
{
	struct btf *b = extract();

	(void)state;
	assert_int_equal(kbtf_value(b, "BPF_FUNC_loop"), 181);
	assert_int_equal(kbtf_value(b, "BPF_FUNC_none"), -1);
	btf__free(b);
}

static void says_the_same_once_written_and_read(void **state)
{
	struct btf *b = extract(), *again;
	const void *bytes;
	uint32_t len;

	(void)state;
	bytes = btf__raw_data(b, &len);
	again = btf__new(bytes, len);
	assert_non_null(again);
	assert_true(kbtf_is_for(again, 0xfeed));
	assert_false(kbtf_is_for(again, 0xbeef));
	assert_int_equal(kbtf_hook(again, "security_file_open"), hook_id);
	assert_int_equal(kbtf_value(again, "BPF_FUNC_loop"), 181);
	assert_non_null(type(again, "file"));
	btf__free(again);
	btf__free(b);
}

static void sorts_names_and_drops_doubles(void **state)
{
	struct names l = { 0 };

	(void)state;
	names_sort(&l);
	names_add(&l, "b");
	names_add(&l, "a");
	names_add(&l, "b");
	names_sort(&l);
	assert_int_equal(l.n, 2);
	assert_string_equal(l.v[0], "a");
	assert_string_equal(l.v[1], "b");
	assert_true(names_have(&l, "b"));
	assert_false(names_have(&l, "c"));
	names_done(&l);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(keeps_named_types_with_all_that_they_embed),
		cmocka_unit_test(leaves_out_what_is_only_pointed_to),
		cmocka_unit_test(tells_ids_of_hooks_in_the_kernel),
		cmocka_unit_test(counts_parameters),
		cmocka_unit_test(tells_enumerators),
		cmocka_unit_test(says_the_same_once_written_and_read),
		cmocka_unit_test(sorts_names_and_drops_doubles),
	};

	return cmocka_run_group_tests(tests, set_up, tear_down);
}
