/* SPDX-License-Identifier: MIT */
/* Runs a fuzz target over the files and folders given as arguments: corpora as ordinary tests. */
#include "base/buf.h"
#include "base/fdio.h"

#include <dirent.h>
#include <fcntl.h>

#define INPUT_CAP (1u << 20)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static int replay_file(int dir, const char *name)
{
	_cleanup_buf_ struct buf in = BUF_INIT;
	void *exact;

	if (file_read_at(dir, name, INPUT_CAP, &in) < 0) {
		fprintf(stderr, "cannot read %s\n", name);
		return 1;
	}
	/* of the exact size, so that a sanitizer sees the first byte beyond */
	exact = malloc(in.len ? in.len : 1);
	if (in.len)
		memcpy(exact, in.data, in.len);
	(void)LLVMFuzzerTestOneInput(exact, in.len); /* says nothing but by dying */
	free(exact);
	return 0;
}

static int replay_folder(const char *path, size_t *files)
{
	DIR *d = opendir(path);
	struct dirent *entry;
	int bad = !d;

	while (d && (entry = readdir(d))) {
		if (entry->d_name[0] == '.')
			continue;
		bad |= replay_file(dirfd(d), entry->d_name);
		++*files;
	}
	if (d)
		closedir(d);
	return bad;
}

int main(int argc, char **argv)
{
	size_t files = 0;
	int bad = 0;

	for (int i = 1; i < argc; i++)
		bad |= replay_folder(argv[i], &files);
	printf("%zu inputs\n", files);
	return bad || !files;
}
