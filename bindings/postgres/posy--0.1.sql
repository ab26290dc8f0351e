-- Filters: the type, lookups, aggregates, algebra.
\echo Use "CREATE EXTENSION posy" to load this file. \quit

-- A value is one message of Posy's format, so it is a bytea, too. It is already compressed: the server does not try to.
CREATE TYPE filter;
CREATE FUNCTION filter_in(cstring) RETURNS filter AS 'MODULE_PATHNAME', 'posy_filter_in' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION filter_out(filter) RETURNS cstring AS 'MODULE_PATHNAME', 'posy_out' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION filter_recv(internal) RETURNS filter AS 'MODULE_PATHNAME', 'posy_filter_recv' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION filter_send(filter) RETURNS bytea AS 'MODULE_PATHNAME', 'posy_send' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE TYPE filter (INPUT = filter_in, OUTPUT = filter_out, RECEIVE = filter_recv, SEND = filter_send,
  INTERNALLENGTH = variable, STORAGE = external);
COMMENT ON TYPE filter IS 'a Bloom filter: a set in a few bits per key';

CREATE FUNCTION filter(bytea) RETURNS filter AS 'MODULE_PATHNAME', 'posy_filter_of_bytea' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE CAST (bytea AS filter) WITH FUNCTION filter(bytea);
CREATE CAST (filter AS bytea) WITHOUT FUNCTION;

-- Lookups.
CREATE FUNCTION filter_support(internal) RETURNS internal AS 'MODULE_PATHNAME', 'posy_filter_support' LANGUAGE C STRICT;
CREATE FUNCTION filter_selectivity(internal, oid, internal, int4) RETURNS float8
  AS 'MODULE_PATHNAME', 'posy_filter_selectivity' LANGUAGE C STABLE STRICT PARALLEL SAFE;
CREATE FUNCTION may_contain(filter, "any") RETURNS boolean AS 'MODULE_PATHNAME', 'posy_filter_may_contain'
  LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 2 SUPPORT filter_support;
COMMENT ON FUNCTION may_contain(filter, "any") IS 'false: the key is certainly not in the set';
CREATE OPERATOR @> (LEFTARG = filter, RIGHTARG = "any", FUNCTION = may_contain, RESTRICT = filter_selectivity);

-- What a filter holds.
CREATE FUNCTION items(filter) RETURNS bigint AS 'MODULE_PATHNAME', 'posy_filter_items' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 1000;
CREATE FUNCTION rate(filter) RETURNS float8 AS 'MODULE_PATHNAME', 'posy_filter_rate' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 1000;
CREATE FUNCTION info(filter) RETURNS jsonb AS 'MODULE_PATHNAME', 'posy_filter_info' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 1000;

-- Two filters. They must have the same size, hashes and seed.
CREATE FUNCTION unite(filter, filter) RETURNS filter AS 'MODULE_PATHNAME', 'posy_filter_unite' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 1000;
CREATE FUNCTION intersection(filter, filter) RETURNS filter AS 'MODULE_PATHNAME', 'posy_filter_intersect' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 1000;
CREATE FUNCTION intersection_size(filter, filter) RETURNS float8 AS 'MODULE_PATHNAME', 'posy_filter_intersection_size' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 1000;
CREATE FUNCTION compare(filter, filter) RETURNS jsonb AS 'MODULE_PATHNAME', 'posy_filter_compare' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 1000;

-- Aggregates.
CREATE FUNCTION filter_agg_add(internal, "any", bigint, float8) RETURNS internal AS 'MODULE_PATHNAME', 'posy_filter_agg_add' LANGUAGE C IMMUTABLE PARALLEL SAFE;
CREATE FUNCTION filter_union_add(internal, filter) RETURNS internal AS 'MODULE_PATHNAME', 'posy_filter_union_add' LANGUAGE C IMMUTABLE PARALLEL SAFE COST 1000;
CREATE FUNCTION filter_agg_combine(internal, internal) RETURNS internal AS 'MODULE_PATHNAME', 'posy_filter_agg_combine' LANGUAGE C IMMUTABLE PARALLEL SAFE;
CREATE FUNCTION filter_agg_serialize(internal) RETURNS bytea AS 'MODULE_PATHNAME', 'posy_filter_agg_serialize' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION filter_agg_deserialize(bytea, internal) RETURNS internal AS 'MODULE_PATHNAME', 'posy_filter_agg_deserialize' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION filter_agg_final(internal) RETURNS filter AS 'MODULE_PATHNAME', 'posy_filter_agg_final' LANGUAGE C IMMUTABLE PARALLEL SAFE;

CREATE AGGREGATE filter_agg(key "any", items bigint, rate float8) (SFUNC = filter_agg_add, STYPE = internal, SSPACE = 65536,
  FINALFUNC = filter_agg_final, COMBINEFUNC = filter_agg_combine, SERIALFUNC = filter_agg_serialize,
  DESERIALFUNC = filter_agg_deserialize, PARALLEL = SAFE);
COMMENT ON AGGREGATE filter_agg("any", bigint, float8) IS 'the filter of these keys, for so many items at such a false-positive rate';
CREATE AGGREGATE filter_union(filter) (SFUNC = filter_union_add, STYPE = internal, SSPACE = 65536,
  FINALFUNC = filter_agg_final, COMBINEFUNC = filter_agg_combine, SERIALFUNC = filter_agg_serialize,
  DESERIALFUNC = filter_agg_deserialize, PARALLEL = SAFE);
COMMENT ON AGGREGATE filter_union(filter) IS 'the filter of all keys of these filters';
