-- Sealed filters, maps and counts.
CREATE EXTENSION posy;
CREATE TABLE words AS SELECT 'word' || i AS word, i AS n FROM generate_series(1, 20000) i;

-- Sealed filters.
CREATE TABLE sealed AS SELECT seal_agg(word, 0.001) AS s FROM words;
SELECT count(*) FROM words, sealed WHERE s @> word;
SELECT count(*) < 60 AS as_planned FROM generate_series(1, 20000) i, sealed WHERE may_contain(s, 'other' || i);
SELECT info(s)->'items' AS items, round((info(s)->>'false_positive_rate')::numeric, 4) AS rate, pg_column_size(s) < 25500 AS small FROM sealed;
SELECT s::bytea::sealed_filter::bytea = s::bytea AS bytes, s::text::sealed_filter::bytea = s::bytea AS text FROM sealed;
SELECT seal_agg(word, 0.001)::bytea = (SELECT s::bytea FROM sealed) AS any_order FROM (SELECT word FROM words ORDER BY md5(word)) w;
SELECT seal_agg(word, 0.01) IS NULL AS no_rows FROM words WHERE false;
SELECT info(seal_agg(NULL::text, 0.01))->'items' AS only_nulls FROM words;
SELECT seal_agg(word, 0) FROM words;
SELECT seal_agg(word, NULL) FROM words;
SELECT seal_agg(word, 1.0 / n) FROM words;
SELECT s::bytea::filter FROM sealed;
SELECT set_byte(s::bytea, 300, get_byte(s::bytea, 300) # 1)::sealed_filter FROM sealed;

-- Maps.
CREATE TABLE maps AS SELECT map_agg(word, n, 0.0001) AS m FROM words;
SELECT count(*) FROM words, maps WHERE lookup(m, word) = n;
SELECT lookup(m, 'nobody') IS NULL AS undefined, lookup(m, 'word7') AS seven, info(m)->'value_bits' AS bits FROM maps;
SELECT lookup(map_agg(word, CASE WHEN n > 1 THEN n END, 0.0001), 'word1') IS NULL AS null_value FROM words;
SELECT lookup(map_agg(k, v, 0.01), 9223372036854775807) FROM (VALUES (9223372036854775807, 9223372036854775807), (1, 0)) p(k, v);
SELECT map_agg(word, -1, 0.01) FROM words;
SELECT map_agg(1, n, 0.01) FROM words;
SELECT m::bytea::bloomier_map::bytea = m::bytea AS bytes FROM maps;
SELECT '\x00'::bloomier_map;

-- Counts: never too low, and rarely much too high.
CREATE TABLE visits AS SELECT 'page' || (sqrt(i))::int AS page FROM generate_series(1, 100000) i;
CREATE TABLE counts AS SELECT count_min_agg(page, 0.001, 0.01) AS c FROM visits;
SELECT bool_and(estimate(c, page) >= real) AS never_too_low, avg((estimate(c, page) - real > 100)::int) <= 0.01 AS rarely_too_high
  FROM (SELECT page, count(*) AS real FROM visits GROUP BY page) v, counts;
SELECT info(c)->'total' AS total, info(c)->'width' AS width, info(c)->'depth' AS depth, info(c)->>'rule' AS rule FROM counts;
SELECT count_min_union(c)::bytea = (SELECT c::bytea FROM counts) AS exact
  FROM (SELECT count_min_agg(page, 0.001, 0.01) AS c FROM visits GROUP BY length(page)) v;
SELECT estimate(unite(c, c), 'page100') = 2 * estimate(c, 'page100') AS twice FROM counts;
SELECT unite(c, (SELECT count_min_agg(page, 0.1, 0.01) FROM visits)) FROM counts;
SELECT count_min_agg(page, 0, 0.01) FROM visits;
SELECT count_min_agg(page, 1e-9, 0.01) FROM visits;
SELECT count_min_agg(page, 0.01, NULL) FROM visits;
SELECT c::text::count_min::bytea = c::bytea AS text FROM counts;
SELECT substr(c::bytea, 1, 100)::count_min FROM counts;

-- Semi-joins here; between servers is another test.
CREATE TABLE cities AS SELECT 'city' || i AS name, 1000 * i AS cost FROM generate_series(1, 100) i;
CREATE TABLE employees AS SELECT i AS id, 'city' || 1 + i % 400 AS city FROM generate_series(1, 40000) i;
SELECT count(*), count(DISTINCT city) FROM semi_join(NULL::employees, 'city', 'SELECT name FROM cities WHERE cost > 50000');
SELECT semi_join_size(NULL::employees, 'city', 'SELECT name FROM cities WHERE cost > 50000') BETWEEN 4500 AND 5500 AS near;
SELECT count(*) FROM semi_join(NULL::employees, 'city', 'SELECT name FROM cities WHERE false');
SELECT semi_join_size(NULL::employees, 'city', 'SELECT name FROM cities WHERE false');
SELECT count(*) FROM semi_join(NULL::employees, 'town', 'SELECT name FROM cities');
DROP EXTENSION posy CASCADE;
