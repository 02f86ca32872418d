package dev.protolog.internal.text;

/** A template that is none, or arguments that do not fit it. Never leaves the runtime. */
public final class TemplateException extends Exception {
    private static final long serialVersionUID = 1;

    TemplateException(String message) {
        super(message, null, false, false);
    }
}
