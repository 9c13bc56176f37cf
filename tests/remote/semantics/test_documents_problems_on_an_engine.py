"""The problems of `tests/contract/test_documents_problems.py`, from a gateway."""

from tests.contract.test_documents_problems import (  # noqa: F401
    test_an_operation_answers_each_problem_that_it_documents_in_words_of_rest,
    test_the_example_of_a_problem_is_what_is_answered,
)
