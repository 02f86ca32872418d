package dev.protolog.internal.control;

import dev.protolog.InitException;

/**
 * A step of listening to operators that failed: its message has a help line. {@link InitException}
 * passes it on.
 */
public class ControlException extends Exception {
    private static final long serialVersionUID = 1;

    ControlException(String problem, String help) {
        super(problem + "\nhelp: " + help);
    }
}
