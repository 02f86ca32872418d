package dev.protolog.internal.write;

import dev.protolog.EventOrigin;
import dev.protolog.IProtoLogGroup;
import dev.protolog.LogLevel;
import dev.protolog.internal.dictionary.RuntimeMessages;
import dev.protolog.internal.groups.GroupState;
import dev.protolog.internal.groups.RuntimeMessage;
import dev.protolog.internal.groups.Switch;
import dev.protolog.internal.process.Origin;
import dev.protolog.internal.rules.RuledCall;
import dev.protolog.internal.rules.Rules;
import dev.protolog.internal.text.CallStacks;
import dev.protolog.internal.text.MessageText;
import dev.protolog.internal.text.NamedTemplate;
import dev.protolog.internal.text.StackText;
import dev.protolog.internal.text.Template;
import dev.protolog.internal.text.TemplateException;
import java.util.Arrays;

/**
 * A call that the tool has not processed, of an application or of a bridge: its template is taken
 * apart here, once.
 */
public final class UnprocessedCall {
    private UnprocessedCall() {}

    /** Records an enabled message, whose last argument may be an exception. */
    public static void record(LogLevel level, IProtoLogGroup group, String text, Object[] args) {
        Call call = begin(level, group, text, args);
        if (call != null) {
            call.end();
        }
    }

    /** Begins an enabled call with all its arguments; null where it is not to be recorded. */
    public static Call begin(LogLevel level, IProtoLogGroup group, String text, Object[] args) {
        return begin(level, group, String.valueOf(text), "", args, null, null);
    }

    /**
     * As above. The arguments have the names of a list, as {@code NamedTemplate} has them. An
     * exception is among them, or its {@code trace} is given; {@code from} is the origin of an
     * event, or null, and {@code request} the id of the request that it names, or null.
     */
    public static void record(LogLevel level, IProtoLogGroup group, String text, String names, Object[] args, String trace, EventOrigin from,
            String request) {
        Call call = begin(level, group, text, names, args, trace, from);
        if (call == null) {
            return;
        }
        boolean isOfOther = from != null && !EventOrigins.isOfThisThread(from);
        if (request == null && !isOfOther) {
            call.end();
        } else {
            // What another thread logs is none of the request that this one is in.
            call.endIn(request);
        }
    }

    private static Call begin(LogLevel level, IProtoLogGroup group, String text, String names, Object[] args, String trace, EventOrigin from) {
        GroupState state = Routing.of(group);
        boolean isRuled = state.isRuledAtRunTime();
        if (isRuled && !Switch.isEnabled(state.word(), level) && !Rules.switchesOn(state, level, NamedTemplate.withoutNames(text))) {
            // It is not kept only to find that out.
            return null;
        }
        Origin origin = from == null ? null : EventOrigins.resolve(from);
        String location = null;
        if (SessionRoutes.of(state).hasLocations) {
            boolean isHere = from == null || EventOrigins.isOfThisThread(from);
            location = from != null && from.location() != null ? from.location() : isHere ? CallStacks.location() : null;
        }
        RuntimeMessage message = RuntimeMessages.of(state, level, text, names, location);
        RuledCall rule = isRuled && message != null ? Rules.of(state, message) : RuledCall.NONE;
        long rate = Call.sample(state, level, rule);
        if (rate == CallLimits.PASSED_OVER) {
            return null;
        }
        Object[] values;
        String thrown = trace;
        try {
            Template template = message != null && message.template() != null ? message.template() : template(text, names);
            values = MessageText.oneNullOrNone(args, template.size());
            if (trace == null && hasException(values, template.size())) {
                Throwable exception = (Throwable) values[values.length - 1];
                thrown = exception == null ? null : StackText.of(exception);
                values = Arrays.copyOf(values, values.length - 1);
            }
            if (message != null) {
                values = template.values(values);
            } else {
                // One template too many: its text takes more bytes, and loses nothing.
                values = new Object[] {template.render(values)};
                message = RuntimeMessages.of(state, level, RuntimeMessage.ANY_TEXT, location);
            }
        } catch (TemplateException e) {
            // The text that tells so is a message of its own.
            message = RuntimeMessages.of(state, level, RuntimeMessage.ANY_TEXT, location);
            values = new Object[] {MessageText.formatError(text, args, e.getMessage())};
        }
        if (message == null) {
            Routing.lose(state, level, LossCause.TEMPLATE_LIMIT);
            return null;
        }
        long mask = message.template().mask();
        Call call = Call.begin(group, level, message.id(), mask, rule, rate);
        call.of(message.template(), thrown, origin);
        return call.addAll(mask, values);
    }

    /** A template that is no message, as a call or a bridge has written it. */
    private static Template template(String text, String names) throws TemplateException {
        return Template.parse(names.isEmpty() ? NamedTemplate.parse(text).text() : text);
    }

    /** True if an exception, or null for none, is behind the arguments of a template. */
    private static boolean hasException(Object[] args, int taken) {
        return args.length == taken + 1 && (args[taken] == null || args[taken] instanceof Throwable);
    }
}
