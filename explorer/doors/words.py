"""The sentences of a request that is turned away."""

NO_UPLOADS = "This page takes no files."
NOT_HERE = "There is nothing here."
BODY_TOO_LONG = "This request holds more than {limit} KB, which is the most that one may hold."
HEAD_TOO_LONG = "The address and headers of this request are longer than {limit} KB."
BUSY = "{n} questions are waiting already. Please try again in a few seconds."
