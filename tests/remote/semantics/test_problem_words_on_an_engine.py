"""The answers to mistakes of `tests/contract/test_problem_words.py`, from a gateway."""

from tests.contract.test_problem_words import (  # noqa: F401
    test_a_body_that_is_no_json_names_the_line_and_the_column,
    test_a_value_that_does_not_fit_is_shown_shortened,
    test_the_answer_to_a_mistake_says_what_to_do,
)
