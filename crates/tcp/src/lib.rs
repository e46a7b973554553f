//! TCP as Linux does it, as a sans-io state machine.
