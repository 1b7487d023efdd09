"""What transforms that are fitted on words of several classes have in common."""

from __future__ import annotations

from dataclasses import dataclass

from weatherglass.mitigation.lists import Classes, Sides


@dataclass(frozen=True, slots=True)
class OfClasses:
    """A transform whose list has classes, such as male and female words."""

    classes: Classes

    @property
    def topics(self) -> tuple[str, ...]:
        """Topics of the catalogue that its list is about."""
        return self.classes.topics

    @property
    def sides(self) -> Sides:
        """The words of both ends of the attribute."""
        return self.classes.words[0], self.classes.words[1]

    def texts(self) -> tuple[str, ...]:
        """The words of all classes."""
        return self.classes.all_words
