-- Views and macros on an archive of `protologtool export parquet`.
--
--   cd archive && duckdb -init protolog.sql
--   select time, level, tag, message from log where level >= 'ERROR' order by time;
--
-- Another directory: set variable archive = '/srv/archive' before this file is read.

-- Files --------------------------------------------------------------------------------------------------------------

-- Files of other builds have other columns of arguments; those that one lacks are null in its rows.
create or replace macro protolog_files(of_table) as table
    from read_parquet(
        coalesce(getvariable('archive'), '.') || '/' || of_table || '/**/*.parquet',
        hive_partitioning = true,
        union_by_name = true,
        hive_types = {'date': date, 'program': varchar, 'build': varchar}
    );

create or replace macro protolog_dictionary() as table
    from read_parquet(
        coalesce(getvariable('archive'), '.') || '/templates/**/*.parquet',
        hive_partitioning = true,
        union_by_name = true,
        hive_types = {'program': varchar, 'build': varchar}
    );

-- Texts --------------------------------------------------------------------------------------------------------------

-- As wide as a conversion says: zeros stand between the sign and the digits.
create or replace macro protolog_pad(shown, width, zeros) as
    case
        when length(shown) >= width then shown
        when not zeros then repeat(' ', width - length(shown)) || shown
        when shown[1] = '-' then '-' || repeat('0', width - length(shown)) || shown[2:]
        else repeat('0', width - length(shown)) || shown
    end;

create or replace macro protolog_text(value, piece) as
    protolog_pad(coalesce(left(value, piece.precision), value), piece.width, false);

create or replace macro protolog_integer(value, piece, is_unsigned) as
    protolog_pad(
        case
            when piece.verb = 'x' then lower(to_hex(value))
            when piece.verb = 'o' then printf('%o', value)
            when is_unsigned and value < 0 then (value::hugeint + 18446744073709551616::hugeint)::varchar
            else value::varchar
        end,
        piece.width,
        piece.zero_pad
    );

create or replace macro protolog_float(value, piece) as
    protolog_pad(
        case
            when isnan(value) then 'nan'
            when value = 'infinity'::double then 'inf'
            when value = '-infinity'::double then '-inf'
            else printf('%.' || coalesce(piece.precision, 6) || piece.verb, value)
        end,
        piece.width,
        piece.zero_pad and isfinite(value)
    );

create or replace macro protolog_bool(value, piece) as
    protolog_pad(case when value then 'true' else 'false' end, piece.width, false);

-- The text of a message: the pieces of its template, and its arguments by kind. Bit i of `unsigned_args` is set if argument i is an
-- unsigned integer.
create or replace macro protolog_render(pieces, unsigned_args, texts, integers, floats, bools) as
    list_aggregate(
        list_transform(
            pieces,
            lambda piece: case piece.kind
                when 's' then protolog_text(texts[piece.place + 1], piece)
                when 'i' then protolog_integer(
                    integers[piece.place + 1], piece, (unsigned_args >> piece.argument) & 1 = 1
                )
                when 'f' then protolog_float(floats[piece.place + 1], piece)
                when 'b' then protolog_bool(bools[piece.place + 1], piece)
                else piece.text
            end
        ),
        'string_agg',
        ''
    );

-- Tables -------------------------------------------------------------------------------------------------------------

-- One row for each message of each build.
create or replace view templates as
    select distinct on (program, build, id, variant)
        program, build, id, variant, level, tag, log_group, template, location,
        from_json(
            pieces,
            '[{"text":"VARCHAR","kind":"VARCHAR","argument":"INTEGER","place":"INTEGER","verb":"VARCHAR","width":"INTEGER","zero_pad":"BOOLEAN","precision":"INTEGER"}]'
        ) as pieces
    from protolog_dictionary()
    order by all;

create or replace view losses as from protolog_files('losses');
create or replace view spans as from protolog_files('spans');

-- One row for each message that was logged. `texts`, `integers`, `floats` and `bools` are its arguments by kind.
create or replace view messages as
    select
        time, epoch_ns(time) + boot_offset as boot_time, tie, time_guessed, source, host, pid, tid, process, thread, id, variant, level,
        unsigned_args, message_guessed, stack_trace, text, args, date, program, build,
        [*columns('^s[0-9]+$')] as texts,
        [*columns('^i[0-9]+$')] as integers,
        [*columns('^f[0-9]+$')] as floats,
        [*columns('^b[0-9]+$')] as bools
    from protolog_files('messages');

-- The log: what `read-log` shows, by the same names.
create or replace view log as
    select
        m.time, m.boot_time, m.tie, m.host, m.program, m.build, m.date, m.pid, m.tid, m.process, m.thread,
        m.level, t.tag, t.log_group, m.id, t.template, t.location, m.stack_trace, m.source,
        m.texts, m.integers, m.floats, m.bools,
        coalesce(m.text, protolog_render(t.pieces, m.unsigned_args, m.texts, m.integers, m.floats, m.bools)) as message
    from messages m
    left join templates t on (
        m.id = t.id and m.variant = t.variant and m.build = t.build and m.program is not distinct from t.program
    );

-- What is missing, and why.
create or replace view lost as
    select date, host, program, log_group, reason, sum(count)::bigint as messages, count(*) as times,
        count(*) filter (count is null) as times_of_unknown_size
    from losses
    where reason <> 'unended'
    group by all
    order by all;

-- The messages of each place in the sources, the most frequent first.
create or replace view volume_by_site as
    with by_id as (
        select program, build, id, variant, count(*) as messages from protolog_files('messages') group by all
    )
    select sum(m.messages)::bigint as messages, m.program, t.level, t.log_group, t.template, t.location, m.id
    from by_id m
    left join templates t on (
        m.id = t.id and m.variant = t.variant and m.build = t.build and m.program is not distinct from t.program
    )
    group by all
    order by messages desc, m.id;
