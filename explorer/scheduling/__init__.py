"""Scheduling of computations on the machine: priorities, queues, cancellation."""
