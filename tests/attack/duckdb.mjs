// SPDX-License-Identifier: MIT

// duckdb.mjs MODULE GLOB: what kinds of records the segments hold, as DuckDB counts them.
import { createRequire } from "node:module";

const { DuckDBInstance } = createRequire(import.meta.url)(process.argv[2]);
const connection = await (await DuckDBInstance.create(":memory:")).connect();
const reader = await connection.runAndReadAll(
	`SELECT t, count(*)::INTEGER FROM read_json('${process.argv[3]}', compression = 'gzip',
		format = 'newline_delimited', union_by_name = true) GROUP BY t ORDER BY t`);
for (const [kind, count] of reader.getRows())
	console.log(kind, count);
