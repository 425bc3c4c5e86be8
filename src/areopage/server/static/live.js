"use strict";
// Live parts poll only while the page is visible, and at once when it becomes visible again.
document.addEventListener("htmx:beforeRequest", (event) => {
  if (document.hidden && event.target.hasAttribute("data-live")) event.preventDefault();
});
document.addEventListener("visibilitychange", () => {
  if (!document.hidden) document.querySelectorAll("[data-live]").forEach((part) => htmx.trigger(part, "seen"));
});
// On a phone the row of pages is longer than the screen: it begins where the reader is.
document.addEventListener("DOMContentLoaded", () => {
  document.querySelector(".places [aria-current]")?.scrollIntoView({ block: "nearest", inline: "center" });
});
// What the reader opened in a part stays open when the part is renewed.
let opened = [];
document.addEventListener("htmx:beforeSwap", () => {
  opened = [...document.querySelectorAll("details[id][open]")].map((part) => part.id);
});
document.addEventListener("htmx:afterSwap", () => {
  opened.forEach((id) => document.getElementById(id)?.setAttribute("open", ""));
});
