-- Sealed filters, maps and counts; semi-joins.
\echo Use "ALTER EXTENSION posy UPDATE TO '0.2'" to load this file. \quit

CREATE TYPE sealed_filter;
CREATE FUNCTION sealed_filter_in(cstring) RETURNS sealed_filter AS 'MODULE_PATHNAME', 'posy_sealed_filter_in' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION sealed_filter_out(sealed_filter) RETURNS cstring AS 'MODULE_PATHNAME', 'posy_out' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION sealed_filter_recv(internal) RETURNS sealed_filter AS 'MODULE_PATHNAME', 'posy_sealed_filter_recv' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION sealed_filter_send(sealed_filter) RETURNS bytea AS 'MODULE_PATHNAME', 'posy_send' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE TYPE sealed_filter (INPUT = sealed_filter_in, OUTPUT = sealed_filter_out, RECEIVE = sealed_filter_recv, SEND = sealed_filter_send,
  INTERNALLENGTH = variable, STORAGE = external);
COMMENT ON TYPE sealed_filter IS 'a set that does not change, in the fewest bits';
CREATE FUNCTION sealed_filter(bytea) RETURNS sealed_filter AS 'MODULE_PATHNAME', 'posy_sealed_filter_of_bytea' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE CAST (bytea AS sealed_filter) WITH FUNCTION sealed_filter(bytea);
CREATE CAST (sealed_filter AS bytea) WITHOUT FUNCTION;
CREATE FUNCTION info(sealed_filter) RETURNS jsonb AS 'MODULE_PATHNAME', 'posy_sealed_filter_info' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 1000;

CREATE TYPE bloomier_map;
CREATE FUNCTION bloomier_map_in(cstring) RETURNS bloomier_map AS 'MODULE_PATHNAME', 'posy_bloomier_map_in' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION bloomier_map_out(bloomier_map) RETURNS cstring AS 'MODULE_PATHNAME', 'posy_out' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION bloomier_map_recv(internal) RETURNS bloomier_map AS 'MODULE_PATHNAME', 'posy_bloomier_map_recv' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION bloomier_map_send(bloomier_map) RETURNS bytea AS 'MODULE_PATHNAME', 'posy_send' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE TYPE bloomier_map (INPUT = bloomier_map_in, OUTPUT = bloomier_map_out, RECEIVE = bloomier_map_recv, SEND = bloomier_map_send,
  INTERNALLENGTH = variable, STORAGE = external);
COMMENT ON TYPE bloomier_map IS 'a value for each key, without the keys';
CREATE FUNCTION bloomier_map(bytea) RETURNS bloomier_map AS 'MODULE_PATHNAME', 'posy_bloomier_map_of_bytea' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE CAST (bytea AS bloomier_map) WITH FUNCTION bloomier_map(bytea);
CREATE CAST (bloomier_map AS bytea) WITHOUT FUNCTION;
CREATE FUNCTION info(bloomier_map) RETURNS jsonb AS 'MODULE_PATHNAME', 'posy_bloomier_map_info' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 1000;

CREATE TYPE count_min;
CREATE FUNCTION count_min_in(cstring) RETURNS count_min AS 'MODULE_PATHNAME', 'posy_count_min_in' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION count_min_out(count_min) RETURNS cstring AS 'MODULE_PATHNAME', 'posy_out' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION count_min_recv(internal) RETURNS count_min AS 'MODULE_PATHNAME', 'posy_count_min_recv' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION count_min_send(count_min) RETURNS bytea AS 'MODULE_PATHNAME', 'posy_send' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE TYPE count_min (INPUT = count_min_in, OUTPUT = count_min_out, RECEIVE = count_min_recv, SEND = count_min_send,
  INTERNALLENGTH = variable, STORAGE = external);
COMMENT ON TYPE count_min IS 'how often keys occur';
CREATE FUNCTION count_min(bytea) RETURNS count_min AS 'MODULE_PATHNAME', 'posy_count_min_of_bytea' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE CAST (bytea AS count_min) WITH FUNCTION count_min(bytea);
CREATE CAST (count_min AS bytea) WITHOUT FUNCTION;
CREATE FUNCTION info(count_min) RETURNS jsonb AS 'MODULE_PATHNAME', 'posy_count_min_info' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 1000;

-- Sealed filters.
CREATE FUNCTION sealed_filter_support(internal) RETURNS internal AS 'MODULE_PATHNAME', 'posy_sealed_filter_support' LANGUAGE C STRICT;
CREATE FUNCTION sealed_filter_selectivity(internal, oid, internal, int4) RETURNS float8 AS 'MODULE_PATHNAME', 'posy_sealed_filter_selectivity' LANGUAGE C STABLE STRICT PARALLEL SAFE;
CREATE FUNCTION may_contain(sealed_filter, "any") RETURNS boolean AS 'MODULE_PATHNAME', 'posy_sealed_filter_may_contain' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 2 SUPPORT sealed_filter_support;
CREATE OPERATOR @> (LEFTARG = sealed_filter, RIGHTARG = "any", FUNCTION = may_contain, RESTRICT = sealed_filter_selectivity);
CREATE FUNCTION seal_agg_add(internal, "any", float8) RETURNS internal AS 'MODULE_PATHNAME', 'posy_seal_agg_add' LANGUAGE C IMMUTABLE PARALLEL SAFE;
CREATE FUNCTION seal_agg_combine(internal, internal) RETURNS internal AS 'MODULE_PATHNAME', 'posy_seal_agg_combine' LANGUAGE C IMMUTABLE PARALLEL SAFE;
CREATE FUNCTION seal_agg_serialize(internal) RETURNS bytea AS 'MODULE_PATHNAME', 'posy_seal_agg_serialize' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION seal_agg_deserialize(bytea, internal) RETURNS internal AS 'MODULE_PATHNAME', 'posy_seal_agg_deserialize' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION seal_agg_final(internal) RETURNS sealed_filter AS 'MODULE_PATHNAME', 'posy_seal_agg_final' LANGUAGE C IMMUTABLE PARALLEL SAFE COST 1000;
CREATE AGGREGATE seal_agg(key "any", rate float8) (SFUNC = seal_agg_add, STYPE = internal, SSPACE = 65536, FINALFUNC = seal_agg_final,
  COMBINEFUNC = seal_agg_combine, SERIALFUNC = seal_agg_serialize, DESERIALFUNC = seal_agg_deserialize, PARALLEL = SAFE);
COMMENT ON AGGREGATE seal_agg("any", float8) IS 'the set of these keys, with such a false-positive rate';

-- Maps.
CREATE FUNCTION lookup(bloomier_map, "any") RETURNS bigint AS 'MODULE_PATHNAME', 'posy_bloomier_map_lookup' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 2;
CREATE FUNCTION map_agg_add(internal, "any", bigint, float8) RETURNS internal AS 'MODULE_PATHNAME', 'posy_map_agg_add' LANGUAGE C IMMUTABLE PARALLEL SAFE;
CREATE FUNCTION map_agg_combine(internal, internal) RETURNS internal AS 'MODULE_PATHNAME', 'posy_map_agg_combine' LANGUAGE C IMMUTABLE PARALLEL SAFE;
CREATE FUNCTION map_agg_serialize(internal) RETURNS bytea AS 'MODULE_PATHNAME', 'posy_map_agg_serialize' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION map_agg_deserialize(bytea, internal) RETURNS internal AS 'MODULE_PATHNAME', 'posy_map_agg_deserialize' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION map_agg_final(internal) RETURNS bloomier_map AS 'MODULE_PATHNAME', 'posy_map_agg_final' LANGUAGE C IMMUTABLE PARALLEL SAFE COST 1000;
CREATE AGGREGATE map_agg(key "any", value bigint, rate float8) (SFUNC = map_agg_add, STYPE = internal, SSPACE = 65536, FINALFUNC = map_agg_final,
  COMBINEFUNC = map_agg_combine, SERIALFUNC = map_agg_serialize, DESERIALFUNC = map_agg_deserialize, PARALLEL = SAFE);
COMMENT ON AGGREGATE map_agg("any", bigint, float8) IS 'the map of these keys to values; such a share of other keys has a value, too';

-- Counts.
CREATE FUNCTION estimate(count_min, "any") RETURNS bigint AS 'MODULE_PATHNAME', 'posy_count_min_estimate' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 2;
CREATE FUNCTION unite(count_min, count_min) RETURNS count_min AS 'MODULE_PATHNAME', 'posy_count_min_unite' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 1000;
CREATE FUNCTION count_min_agg_add(internal, "any", float8, float8) RETURNS internal AS 'MODULE_PATHNAME', 'posy_count_min_agg_add' LANGUAGE C IMMUTABLE PARALLEL SAFE;
CREATE FUNCTION count_min_agg_combine(internal, internal) RETURNS internal AS 'MODULE_PATHNAME', 'posy_count_min_agg_combine' LANGUAGE C IMMUTABLE PARALLEL SAFE;
CREATE FUNCTION count_min_agg_serialize(internal) RETURNS bytea AS 'MODULE_PATHNAME', 'posy_count_min_agg_serialize' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION count_min_agg_deserialize(bytea, internal) RETURNS internal AS 'MODULE_PATHNAME', 'posy_count_min_agg_deserialize' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION count_min_agg_final(internal) RETURNS count_min AS 'MODULE_PATHNAME', 'posy_count_min_agg_final' LANGUAGE C IMMUTABLE PARALLEL SAFE COST 1000;
CREATE AGGREGATE count_min_agg(key "any", epsilon float8, delta float8) (SFUNC = count_min_agg_add, STYPE = internal, SSPACE = 65536, FINALFUNC = count_min_agg_final,
  COMBINEFUNC = count_min_agg_combine, SERIALFUNC = count_min_agg_serialize, DESERIALFUNC = count_min_agg_deserialize, PARALLEL = SAFE);
COMMENT ON AGGREGATE count_min_agg("any", float8, float8) IS 'how often each key occurs: at most epsilon times all rows too high, except for a share delta of the keys';
CREATE FUNCTION count_min_union_add(internal, count_min) RETURNS internal AS 'MODULE_PATHNAME', 'posy_count_min_union_add' LANGUAGE C IMMUTABLE PARALLEL SAFE;
CREATE AGGREGATE count_min_union(count_min) (SFUNC = count_min_union_add, STYPE = internal, SSPACE = 65536, FINALFUNC = count_min_agg_final,
  COMBINEFUNC = count_min_agg_combine, SERIALFUNC = count_min_agg_serialize, DESERIALFUNC = count_min_agg_deserialize, PARALLEL = SAFE);
COMMENT ON AGGREGATE count_min_union(count_min) IS 'the counts of all rows of these';

-- Semi-joins: rows of a table, mostly of another server, whose key is among those of a query here.

-- The filter of the keys of a query, which has one column.
CREATE FUNCTION filter_of(keys text, rate float8 DEFAULT 0.01) RETURNS filter LANGUAGE plpgsql STABLE AS $$
DECLARE
  members bigint;
  built @extschema@.filter;
BEGIN
  EXECUTE format('SELECT count(*) FROM (%s) keys(key)', keys) INTO members;
  EXECUTE format('SELECT @extschema@.filter_agg(key, $1, $2) FROM (%s) keys(key)', keys) INTO built USING greatest(members, 1), rate;
  RETURN built;
END $$;
COMMENT ON FUNCTION filter_of(text, float8) IS 'the filter of the keys that a query returns';

-- A foreign table whose server is not told of the extension would send all its rows, and lookups would be made here.
CREATE FUNCTION check_shipping(foreign_table regclass) RETURNS void LANGUAGE plpgsql STABLE AS $$
DECLARE
  untold name;
BEGIN
  SELECT s.srvname INTO untold FROM pg_catalog.pg_foreign_table t JOIN pg_catalog.pg_foreign_server s ON s.oid = t.ftserver
    WHERE t.ftrelid = foreign_table AND NOT EXISTS (SELECT FROM pg_catalog.pg_options_to_table(s.srvoptions)
      WHERE option_name = 'extensions' AND 'posy' = ANY (pg_catalog.string_to_array(pg_catalog.replace(option_value, ' ', ''), ',')));
  IF untold IS NOT NULL THEN
    RAISE WARNING 'posy: server % sends all rows of %, because it is not known to have the extension', untold, foreign_table
      USING HINT = format('CREATE EXTENSION posy there, and ALTER SERVER %I OPTIONS (ADD extensions ''posy'') here.', untold);
  END IF;
END $$;

CREATE FUNCTION semi_join(remote anyelement, key name, keys text, rate float8 DEFAULT 0.01) RETURNS SETOF anyelement
LANGUAGE plpgsql STABLE AS $$
DECLARE
  members @extschema@.filter := @extschema@.filter_of(keys, rate);
BEGIN
  PERFORM @extschema@.check_shipping(pg_typeof(remote)::text::regclass);
  RETURN QUERY EXECUTE format('SELECT r.* FROM %s r WHERE @extschema@.may_contain($1, r.%I) AND r.%I IN (%s)',
    pg_typeof(remote), key, key, keys) USING members;
END $$;
COMMENT ON FUNCTION semi_join(anyelement, name, text, float8) IS
  'the rows of a remote table whose key is among those of a query here; a filter of these keys goes there, and few other rows come back';

-- A filter goes there, and two numbers come back. Rows that pass although they are none of these are subtracted: their expected
-- number is known. The rate is low, because a column with few values has few false positives, and these vary.
CREATE FUNCTION semi_join_size(remote anyelement, key name, keys text, rate float8 DEFAULT 0.0001) RETURNS float8
LANGUAGE plpgsql STABLE AS $$
DECLARE
  members @extschema@.filter := @extschema@.filter_of(keys, rate);
  other float8 := @extschema@.rate(members);
  all_rows bigint;
  passing bigint;
BEGIN
  PERFORM @extschema@.check_shipping(pg_typeof(remote)::text::regclass);
  EXECUTE format('SELECT count(r.%I), count(*) FILTER (WHERE @extschema@.may_contain($1, r.%I)) FROM %s r', key, key, pg_typeof(remote))
    INTO all_rows, passing USING members;
  RETURN coalesce(greatest(0, (passing - other * all_rows) / (1 - other)), 0);
END $$;
COMMENT ON FUNCTION semi_join_size(anyelement, name, text, float8) IS 'how many rows semi_join() would return, estimated where they are';
