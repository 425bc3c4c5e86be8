"use strict";
// What polls, polls only while somebody can see it, and at once when the page is seen again.
document.addEventListener("htmx:beforeRequest", (event) => {
  if (document.hidden && event.target.hasAttribute("data-live")) event.preventDefault();
});
document.addEventListener("visibilitychange", () => {
  if (!document.hidden) document.querySelectorAll("[data-live]").forEach((part) => htmx.trigger(part, "seen"));
});
