"""What goes on inside a network during a pass: values, slopes, and heads switched off."""
