-- Filters: building, lookups, algebra, and what is refused.
CREATE EXTENSION posy;
CREATE TABLE users AS SELECT 'user' || i AS name, i AS id FROM generate_series(1, 20000) i;
CREATE TABLE kept AS SELECT filter_agg(name, 20000, 0.001) AS names, filter_agg(id, 20000, 0.01) AS ids FROM users;

-- No key is missing, and the rate is the planned one.
SELECT count(*) FROM users, kept WHERE may_contain(names, name) AND may_contain(ids, id);
SELECT count(*) BETWEEN 140 AND 260 AS as_planned FROM generate_series(100001, 120000) i, kept WHERE ids @> i;
SELECT items(names), round(rate(names)::numeric, 4) AS rate, info(names)->>'layout' AS layout,
  info(names)->'planned_items' AS planned, pg_column_size(names) AS stored FROM kept;

-- Literals, and equal keys of different types.
SELECT names @> 'user7' AS literal, names @> 'user7'::varchar AS varchar, names @> 'user7'::char(20) AS padded,
  names @> 'user7'::name AS name, ids @> 7 AS int, ids @> 7::smallint AS small, ids @> 7::bigint AS big,
  ids @> 7.00 AS numeric, ids @> '7' AS digits, ids @> 7::oid AS oid FROM kept;
SELECT names @> 'nobody' AS nobody, names @> '' AS nothing, ids @> -7 AS negative FROM kept;
WITH f AS (SELECT filter_agg(k, 10, 0.0001) AS f FROM (VALUES ('2026-02-03 04:05:06+01'::timestamptz)) v(k))
SELECT f @> '2026-02-03T03:05:06+00:00'::text AS utc, f @> '2026-02-03 03:05:06+00'::timestamptz AS same FROM f;
SET DateStyle = 'German'; SET TimeZone = 'Asia/Tokyo'; SET bytea_output = 'escape';
WITH f AS (SELECT filter_agg(k, 10, 0.0001) AS f FROM (VALUES ('2026-02-03 03:05:06+00'::timestamptz)) v(k))
SELECT f @> '2026-02-03T03:05:06+00:00' AS whatever_the_settings FROM f;
SELECT filter_agg(d, 10, 0.0001) @> '2026-02-03' AS date FROM (VALUES (date '2026-02-03')) v(d);
SELECT filter_agg(b, 10, 0.0001) @> 'abc' AS bytea FROM (VALUES ('\x616263'::bytea)) v(b);
RESET ALL;
SELECT filter_agg(u, 10, 0.0001) @> '01234567-89ab-cdef-0123-456789abcdef' AS uuid
  FROM (VALUES ('01234567-89AB-CDEF-0123-456789ABCDEF'::uuid)) v(u);
SELECT filter_agg(i, 10, 0.0001) @> '10.0.0.1' AS inet FROM (VALUES (inet '10.0.0.1/32')) v(i);
SELECT filter_agg(b, 10, 0.0001) @> 't' AS boolean FROM (VALUES (true)) v(b);
CREATE DOMAIN city AS text;
SELECT filter_agg(c, 10, 0.0001) @> 'Roma'::city AS domain FROM (VALUES ('Roma'::city)) v(c);
SELECT filter_agg(x, 10, 0.01) FROM (VALUES (1.5::float8)) v(x);
SELECT names @> row(1, 2) FROM kept;

-- NULLs, and nothing at all.
SELECT filter_agg(name, 10, 0.01) IS NULL AS no_rows FROM users WHERE false;
SELECT items(filter_agg(NULL::text, 10, 0.01)) AS only_nulls FROM users;
SELECT items(filter_agg(CASE WHEN id <= 10 THEN id END, 10, 0.01)) AS ten FROM users;
SELECT may_contain(NULL::filter, 1) IS NULL AS null_filter, ids @> NULL::int IS NULL AS null_key FROM kept;
SELECT filter_union(f) IS NULL AS no_filters FROM (VALUES (NULL::filter)) v(f);
SELECT filter_agg(id, NULL, 0.01) FROM users;
SELECT filter_agg(id, 0, 0.01) FROM users;
SELECT filter_agg(id, 10, 1.5) FROM users;
SELECT filter_agg(id, 10, 'NaN') FROM users;
SELECT filter_agg(id, id, 0.01) FROM users;
SELECT filter_agg(id, 9000000000000, 0.01) FROM users;

-- Algebra. Union is exact: the filter of all keys, bit for bit.
CREATE TABLE parts AS SELECT id % 4 AS part, filter_agg(id, 20000, 0.01) AS f FROM users GROUP BY 1;
SELECT filter_union(f)::bytea = (SELECT ids::bytea FROM kept) AS exact FROM parts;
SELECT items(unite(a.f, b.f)) AS both, abs(intersection_size(a.f, b.f)) < 200 AS disjoint,
  items(intersection(a.f, b.f)) IS NULL AS unknown FROM parts a, parts b WHERE a.part = 0 AND b.part = 1;
SELECT abs(intersection_size(f, ids) - 5000) < 300 AS five_thousand,
  (compare(f, ids)->'intersection'->>'high')::float8 >= 5000 AS within FROM parts, kept WHERE part = 2;
SELECT filter_union(f) FROM (SELECT f FROM parts UNION ALL SELECT names FROM kept) v;
SELECT unite(names, ids) FROM kept;
SELECT intersection_size(names, ids) FROM kept;

-- In and out: text, bytes and back; as a prepared parameter; in a table that moves it out of line.
SELECT names::text::filter::bytea = names::bytea AS text, names::bytea::filter::bytea = names::bytea AS bytes FROM kept;
SELECT names AS value FROM kept \gset
PREPARE asked(filter) AS SELECT $1 @> 'user7' AS yes, $1 @> 'nobody' AS no;
EXECUTE asked(:'value');
SELECT count(*) FROM users JOIN parts ON f @> id WHERE part = id % 4;

-- Damage.
SELECT 'no filter'::filter;
SELECT '\x504'::filter;
SELECT '\x504g'::filter;
SELECT ''::filter;
SELECT '\x504f5359'::filter;
SELECT set_byte(names::bytea, 200, get_byte(names::bytea, 200) # 1)::filter FROM kept;
SELECT substr(names::bytea, 1, 1000)::filter FROM kept;
SELECT (names::bytea || '\x00')::filter FROM kept;
DROP EXTENSION posy CASCADE;
