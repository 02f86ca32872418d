-- Views and macros on an archive of `protologtool export parquet`.
--
--   cd archive && duckdb -init protolog.sql
--   select time, level, tag, message from log where level in ('ERROR', 'WTF') order by time;
--
-- Another directory: set variable archive = '/srv/archive' before this file is read.

-- Files --------------------------------------------------------------------------------------------------------------

-- The columns of each table, so that no file is opened before it is known that a query needs it: one that is damaged fails queries
-- about its own date and program alone. Files of earlier versions lack the last ones, which are null in their rows.
set variable protolog_columns = (
    with written(of_table, columns) as (
        values
            (
                'messages',
                'time TIMESTAMPTZ_NS, boot_offset BIGINT, tie INTEGER, time_guessed BOOLEAN, source VARCHAR, host VARCHAR, '
                || 'pid BIGINT, tid BIGINT, process VARCHAR, thread VARCHAR, id VARCHAR, variant INTEGER, level VARCHAR, '
                || 'unsigned_args BIGINT, message_guessed BOOLEAN, stack_trace VARCHAR, text VARCHAR, args VARCHAR, '
                || 'rate_kept BIGINT, rate_of BIGINT, rate_by BIGINT, request VARCHAR'
            ),
            (
                'losses',
                'time TIMESTAMPTZ_NS, boot_offset BIGINT, time_guessed BOOLEAN, source VARCHAR, host VARCHAR, pid BIGINT, '
                || 'tid BIGINT, process VARCHAR, thread VARCHAR, reason VARCHAR, log_group VARCHAR, count BIGINT, '
                || 'duration BIGINT, after_messages BIGINT, place BIGINT, level VARCHAR, passed_over BIGINT'
            ),
            (
                'spans',
                'time TIMESTAMPTZ_NS, boot_offset BIGINT, end_time TIMESTAMPTZ_NS, duration BIGINT, longest BIGINT, busy BIGINT, '
                || 'age BIGINT, end_missing BOOLEAN, source VARCHAR, host VARCHAR, pid BIGINT, tid BIGINT, process VARCHAR, '
                || 'thread VARCHAR, name VARCHAR, target VARCHAR, span_id BIGINT, depth BIGINT, begin_args VARCHAR, '
                || 'args VARCHAR, after_messages BIGINT, place BIGINT, end_after_messages BIGINT, end_place BIGINT'
            ),
            (
                'templates',
                'id VARCHAR, variant INTEGER, level VARCHAR, tag VARCHAR, log_group VARCHAR, template VARCHAR, '
                || 'location VARCHAR, pieces VARCHAR, names VARCHAR'
            )
    )
    select map_from_entries(list((of_table, string_split(columns, ', ')))) from written
);

-- What `read_parquet` is told of columns: their names and types. DuckDB before 2.0 has to look for them in each file.
create or replace macro protolog_schema(columns) as
    if(
        version() < 'v2',
        'union_by_name = true',
        'schema = map {' || list_aggregate(
            list_transform(
                columns,
                lambda it: format(
                    '''{0}'': {{''name'': ''{0}'', ''type'': ''{1}'', ''default_value'': null}}',
                    split_part(it, ' ', 1),
                    split_part(it, ' ', 2)
                )
            ),
            'string_agg',
            ', '
        ) || '}'
    );

-- The files of a table.
create or replace macro protolog_pattern(of_table) as
    coalesce(getvariable('archive'), '.') || '/' || of_table || '/**/*.parquet';

create or replace macro protolog_read(of_table, directories) as
    'from read_parquet(''' || replace(protolog_pattern(of_table), '''', '''''') || ''''
    || ', hive_partitioning = true, hive_types = {' || directories || '}, '
    || protolog_schema(getvariable('protolog_columns')[of_table]) || ')';

create or replace macro protolog_files(of_table) as table
    from query(protolog_read(of_table, 'date: date, program: varchar, build: varchar'));

-- Files with templates that are cut off, or have another checksum than their name says: `CONTENT-SUM.parquet`. Without them their
-- messages have no texts; with them each query would fail.
create or replace macro protolog_is_damaged(filename, content) as
    octet_length(content) < 12 or content[1:4] <> 'PAR1'::blob or content[-4:] <> 'PAR1'::blob
    or not starts_with(sha256(content), regexp_extract(filename, '/[0-9a-f]{16}-([0-9a-f]{8})\.parquet$', 1));

set variable protolog_damaged = (
    select coalesce(list(filename), []) from read_blob(protolog_pattern('templates'))
    where protolog_is_damaged(filename, content)
);

create or replace view damaged_templates as
    select unnest(getvariable('protolog_damaged')) as file;

create or replace macro protolog_dictionary() as table
    from query(
        protolog_read('templates', 'program: varchar, build: varchar')
        || ' where not list_contains(getvariable(''protolog_damaged''), filename)'
    );

-- The column of an argument.
create or replace macro protolog_column(kind, place) as
    kind || place || case kind when 's' then ' VARCHAR' when 'i' then ' BIGINT' when 'f' then ' DOUBLE' else ' BOOLEAN' end;

-- The pieces of a template. None of what no export writes, as in files of others: a message has at most 32 arguments, each at most 255
-- wide, and each takes a column.
create or replace macro protolog_is_piece(piece) as
    if(
        piece.kind is null,
        piece.text is not null,
        piece.text is null and piece.kind in ('s', 'i', 'f', 'b') and piece.place between 0 and 31 and piece.argument between 0 and 31
        and piece.width between 0 and 255 and coalesce(piece.precision between 0 and 255, true)
    );

create or replace macro protolog_parsed(pieces) as
    list_filter(
        [try(from_json(
            pieces,
            '[{"text":"VARCHAR","kind":"VARCHAR","argument":"INTEGER","place":"INTEGER","verb":"VARCHAR","width":"INTEGER","zero_pad":"BOOLEAN","precision":"INTEGER"}]'
        ))],
        lambda parsed: len(list_filter(parsed, lambda piece: coalesce(protolog_is_piece(piece), false))) = len(parsed)
    )[1];

-- Messages have as many columns of arguments of each kind as a template needs, and the texts that queries may name.
set variable protolog_columns = (
    with arguments(kind, most) as (
        values ('s', 3), ('i', 0), ('f', 0), ('b', 0)
        union all
        select piece.kind, piece.place
        from (select unnest(protolog_parsed(pieces)) as piece from protolog_dictionary())
        where piece.kind is not null
    ),
    columns(kind, place) as (
        select kind, unnest(range(max(most) + 1)) from arguments group by kind
    )
    select map_concat(
        getvariable('protolog_columns'),
        map {
            'messages': getvariable('protolog_columns')['messages']
            || list(protolog_column(kind, place) order by kind, place)
        }
    )
    from columns
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
            -- In C, no figure is one.
            else printf('%.' || greatest(coalesce(piece.precision, 6), if(piece.verb = 'g', 1, 0)) || piece.verb, value)
        end,
        piece.width,
        piece.zero_pad and isfinite(value)
    );

create or replace macro protolog_bool(value, piece) as
    protolog_pad(case when value then 'true' else 'false' end, piece.width, false);

-- The text of a message: the pieces of its template, and its arguments by kind. Bit i of `unsigned_args` is set if argument i is an
-- unsigned integer.
create or replace macro protolog_render(pieces, args) as
    list_aggregate(
        list_transform(
            pieces,
            lambda piece: case piece.kind
                when 's' then protolog_text(args.texts[piece.place + 1], piece)
                when 'i' then protolog_integer(
                    args.integers[piece.place + 1], piece, (args.unsigned_args >> piece.argument) & 1 = 1
                )
                when 'f' then protolog_float(args.floats[piece.place + 1], piece)
                when 'b' then protolog_bool(args.bools[piece.place + 1], piece)
                else piece.text
            end
        ),
        'string_agg',
        ''
    );

-- Tables -------------------------------------------------------------------------------------------------------------

-- The pieces of a template. A program that was exported after this file was read may have more arguments than there are columns.
create or replace macro protolog_known(pieces) as
    if(
        len(list_filter(
            pieces,
            lambda piece: not contains(
                getvariable('protolog_columns')['messages'], protolog_column(piece.kind, piece.place)
            )
        )) > 0,
        error('programs have more arguments than when protolog.sql was read; read it again'),
        pieces
    );

-- One row for each message of each build.
create or replace view templates as
    select distinct on (program, build, id, variant)
        program, build, id, variant, level, tag, log_group, template, location,
        protolog_known(protolog_parsed(pieces)) as pieces
    from protolog_dictionary()
    order by all;

-- The text of a message by its id, of the column `arguments` of `messages`: `select render(id, arguments) from messages`.
create or replace macro render(of_id, of_arguments) as
    coalesce(
        struct_extract(of_arguments, 'text'),
        protolog_render(
            (
                select any_value(known.pieces) from templates as known
                where known.id = of_id and known.variant = struct_extract(of_arguments, 'variant')
            ),
            of_arguments
        )
    );

-- A number of 64 bits that a trace says, without a sign; and sums of such numbers, which do not fail whatever traces say.
create or replace macro protolog_count(number) as
    if(number < 0, 18446744073709551616::hugeint + number, number::hugeint);

create or replace macro protolog_total(number) as least(sum(number), 9223372036854775807)::bigint;

-- What sampling passed over is in the same files, and not lost: it is in the view `sampled`.
create or replace view losses as
    select * exclude (level, passed_over) from protolog_files('losses') where reason <> 'passed_over';

create or replace view spans as from protolog_files('spans');

-- One row for each message that was logged. `texts`, `integers`, `floats` and `bools` are its arguments by kind, `arguments` all of
-- them, as `render` takes them. A row that fits no template has `text` and `args` in their place. A message that was sampled stands
-- for `weight` messages, every other one for itself.
create or replace view messages as
    select
        time, epoch_ns(time) + boot_offset as boot_time, tie, time_guessed, source, host, pid, tid, process, thread, id, variant, level,
        unsigned_args, message_guessed, stack_trace, text, args, coalesce(rate_of / rate_kept, 1) as weight, request, date, program, build,
        [*columns('^s[0-9]+$')] as texts,
        [*columns('^i[0-9]+$')] as integers,
        [*columns('^f[0-9]+$')] as floats,
        [*columns('^b[0-9]+$')] as bools,
        struct_pack(
            unsigned_args := unsigned_args, texts := texts, integers := integers, floats := floats, bools := bools, text := text,
            variant := variant
        ) as arguments
    from protolog_files('messages');

-- The log: what `read-log` shows, by the same names.
create or replace view log as
    select
        m.time, m.boot_time, m.tie, m.host, m.program, m.build, m.date, m.pid, m.tid, m.process, m.thread,
        m.level, t.tag, t.log_group, m.id, t.template, t.location, m.stack_trace, m.source, m.weight, m.request,
        m.texts, m.integers, m.floats, m.bools,
        coalesce(m.text, protolog_render(t.pieces, m.arguments)) as message
    from messages m
    left join templates t on (
        m.id = t.id and m.variant = t.variant and m.build = t.build and m.program is not distinct from t.program
    );

-- Search -------------------------------------------------------------------------------------------------------------

-- The letters that the numbers and truth values of a template may have, for the class of a regular expression.
create or replace macro protolog_letters(pieces) as
    list_aggregate(
        list_transform(
            pieces,
            lambda piece: case piece.kind
                when 'i' then if(piece.verb = 'x', '0-9a-f ', '0-9 ')
                when 'f' then '0-9.+einfa '
                when 'b' then 'truefals '
                else ''
            end
        ),
        'string_agg',
        ''
    ) || '-';

create or replace macro protolog_is_in_template(pieces, wanted) as
    len(list_filter(pieces, lambda piece: contains(piece.text, wanted))) > 0;

-- Whether a text may begin in an argument and end behind it, or the other way round: at a literal that has an argument before it, or
-- behind it.
create or replace macro protolog_is_across(pieces, wanted) as
    len(list_filter(
        range(1, len(pieces) + 1),
        lambda n: pieces[n].text is not null and len(list_filter(
            range(1, length(wanted)),
            lambda cut: (n > 1 and (
                starts_with(wanted[cut + 1:], pieces[n].text) or starts_with(pieces[n].text, wanted[cut + 1:])
            )) or (n < len(pieces) and (
                ends_with(wanted[:cut], pieces[n].text) or ends_with(pieces[n].text, wanted[:cut])
            ))
        )) > 0
    )) > 0
    -- Arguments side by side, and spaces before one.
    or len(list_filter(
        range(1, len(pieces)), lambda n: pieces[n].kind is not null and pieces[n + 1].kind is not null
    )) > 0
    or (contains(wanted, ' ') and len(list_filter(pieces, lambda piece: piece.width > 0)) > 0);

-- Whether all that numbers can't have is in the template.
create or replace macro protolog_has_rest(pieces, wanted) as
    len(list_filter(
        regexp_extract_all(wanted, '[^' || protolog_letters(pieces) || ']+'),
        lambda part: not protolog_is_in_template(pieces, part)
    )) = 0;

create or replace macro protolog_has_kind(pieces, wanted) as
    len(list_filter(pieces, lambda piece: contains(wanted, piece.kind))) > 0;

-- How a text may be in the messages of a template: `always`, since the template has it; `texts`, within one text argument;
-- `somewhere`, which only the rendered message tells; null if it can't be there.
create or replace macro protolog_may_have(pieces, wanted) as
    case
        when protolog_is_in_template(pieces, wanted) then 'always'
        when protolog_is_across(pieces, wanted)
            then if(protolog_has_kind(pieces, 's') or protolog_has_rest(pieces, wanted), 'somewhere', null)
        when protolog_has_kind(pieces, 'ifb') and regexp_full_match(wanted, '[' || protolog_letters(pieces) || ']*')
            then 'somewhere'
        when len(list_filter(pieces, lambda piece: piece.kind = 's' and piece.precision is not null)) > 0 then 'somewhere'
        when protolog_has_kind(pieces, 's') then 'texts'
    end;

-- The messages of the templates that may have a text in one way (`of_place`), as rows of `log`.
create or replace macro protolog_placed(wanted, of_place) as table
    select
        m.time, m.boot_time, m.tie, m.host, m.program, m.build, m.date, m.pid, m.tid, m.process, m.thread,
        m.level, t.tag, t.log_group, m.id, t.template, t.location, m.stack_trace, m.source, m.weight,
        m.texts, m.integers, m.floats, m.bools, protolog_render(t.pieces, m.arguments) as message
    from messages m
    join (select * from templates where protolog_may_have(pieces, wanted) = of_place) t on (
        m.id = t.id and m.variant = t.variant and m.build = t.build and m.program is not distinct from t.program
    )
    where m.text is null;

-- The messages that have a text, as rows of `log`: first the templates that may have it are found, then the row groups of these
-- alone are read, and of these the columns that may have it.
create or replace macro search(wanted) as table
    from protolog_placed(wanted, 'always')
    union all
    from protolog_placed(wanted, 'texts') where len(list_filter(texts, lambda it: contains(it, wanted))) > 0
    union all
    from protolog_placed(wanted, 'somewhere') where contains(message, wanted)
    union all
    -- Of these, the text is not that of the template.
    select
        m.time, m.boot_time, m.tie, m.host, m.program, m.build, m.date, m.pid, m.tid, m.process, m.thread,
        m.level, t.tag, t.log_group, m.id, t.template, t.location, m.stack_trace, m.source, m.weight,
        m.texts, m.integers, m.floats, m.bools, m.text as message
    from messages m
    left join templates t on (
        m.id = t.id and m.variant = t.variant and m.build = t.build and m.program is not distinct from t.program
    )
    where m.text is not null and contains(m.text, wanted);

-- The messages whose template has a text, as rows of `log`.
create or replace macro search_templates(wanted) as table
    select l.* from log l where l.id in (select id from templates where protolog_is_in_template(pieces, wanted));

-- The messages one of whose first four texts is just this one, as rows of `log`: by the filters of the files, without a scan.
create or replace macro search_argument(wanted) as table
    with found as (
        from protolog_files('messages') where s0 = wanted
        union all by name
        from protolog_files('messages') where s1 = wanted and s0 is distinct from wanted
        union all by name
        from protolog_files('messages') where s2 = wanted and s0 is distinct from wanted and s1 is distinct from wanted
        union all by name
        from protolog_files('messages')
        where s3 = wanted and s0 is distinct from wanted and s1 is distinct from wanted and s2 is distinct from wanted
    )
    select
        m.time, epoch_ns(m.time) + m.boot_offset as boot_time, m.tie, m.host, m.program, m.build, m.date, m.pid, m.tid, m.process,
        m.thread, m.level, t.tag, t.log_group, m.id, t.template, t.location, m.stack_trace, m.source, m.weight,
        m.texts, m.integers, m.floats, m.bools,
        coalesce(
            m.text,
            protolog_render(
                t.pieces,
                struct_pack(
                    unsigned_args := m.unsigned_args, texts := m.texts, integers := m.integers, floats := m.floats, bools := m.bools
                )
            )
        ) as message
    from (
        select
            *, coalesce(rate_of / rate_kept, 1) as weight,
            [*columns('^s[0-9]+$')] as texts, [*columns('^i[0-9]+$')] as integers,
            [*columns('^f[0-9]+$')] as floats, [*columns('^b[0-9]+$')] as bools
        from found
    ) m
    left join templates t on (
        m.id = t.id and m.variant = t.variant and m.build = t.build and m.program is not distinct from t.program
    );

-- What is missing, and why.
create or replace view lost as
    select date, host, program, log_group, reason, protolog_total(protolog_count(count)) as messages, count(*) as times,
        count(*) filter (count is null) as times_of_unknown_size
    from losses
    where reason <> 'unended'
    group by all
    order by all;

-- What sampling did, by group and level: the messages that it kept, those that it passed over, which are not lost, the part that was
-- kept, and how many there were by the rates of those that were kept. `kept + passed_over` is how many there were, if none was lost.
create or replace view sampled as
    with all_kinds as (
        select
            m.date, m.host, m.program, t.log_group, m.level, count(*) as kept, 0::hugeint as passed_over,
            sum(m.rate_of / m.rate_kept) as estimated
        from protolog_files('messages') m
        left join templates t on (
            m.id = t.id and m.variant = t.variant and m.build = t.build and m.program is not distinct from t.program
        )
        where m.rate_of is not null
        group by all
        union all by name
        select date, host, program, log_group, level, 0 as kept, sum(passed_over) as passed_over, 0 as estimated
        from protolog_files('losses')
        where reason = 'passed_over'
        group by all
    )
    select
        date, host, program, log_group, level, sum(kept)::bigint as kept, protolog_total(passed_over) as passed_over,
        sum(kept) / (sum(kept) + sum(passed_over)) as rate, sum(estimated) as estimated
    from all_kinds
    group by all
    order by all;

-- The messages of each place in the sources, the most frequent first, and how many there were before sampling.
create or replace view volume_by_site as
    with by_id as (
        select program, build, id, variant, count(*) as messages, sum(coalesce(rate_of / rate_kept, 1)) as estimated
        from protolog_files('messages')
        group by all
    )
    select
        sum(m.messages)::bigint as messages, m.program, t.level, t.log_group, t.template, t.location, m.id,
        sum(m.estimated) as estimated
    from by_id m
    left join templates t on (
        m.id = t.id and m.variant = t.variant and m.build = t.build and m.program is not distinct from t.program
    )
    group by all
    order by messages desc, m.id;
