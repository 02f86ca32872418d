package dev.protolog;

import java.util.List;

/** Steps of {@link Init#start} that failed, each with a help line. All others are done. */
public class InitException extends Exception {
    private static final long serialVersionUID = 1;

    InitException(List<String> problems) {
        super(String.join("\n", problems));
    }
}
