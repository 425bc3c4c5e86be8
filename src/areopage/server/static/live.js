"use strict";
// Live parts poll only while the page is visible, and at once when it becomes visible again.
document.addEventListener("htmx:beforeRequest", (event) => {
  if (document.hidden && event.target.hasAttribute("data-live")) event.preventDefault();
});
document.addEventListener("visibilitychange", () => {
  if (!document.hidden) document.querySelectorAll("[data-live]").forEach((part) => htmx.trigger(part, "seen"));
});
// A live part says when the server last answered for it, and when it does not answer.
document.addEventListener("htmx:afterRequest", (event) => {
  const stale = document.getElementById("stale"), updated = document.getElementById("updated");
  if (!event.target.hasAttribute("data-live") || !stale || !updated) return;
  const status = event.detail.xhr.status, answered = status >= 200 && status < 300;
  if (answered) updated.textContent = new Date(event.detail.xhr.getResponseHeader("Date")).toISOString().slice(11, 19);
  if (answered !== stale.hidden) stale.textContent = answered ? "" : stale.dataset.words;
  stale.hidden = answered;
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
