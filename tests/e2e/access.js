// What is wrong with a page for people who do not see, or use no mouse; as the browser itself computes it.
({
  text: (element) => (element.innerText || element.textContent || "").trim(),

  named(element) {
    const pictured = [...element.querySelectorAll("[aria-label], [alt], title")];
    const by = (element.getAttribute("aria-labelledby") || "").split(" ").filter(Boolean);
    return (
      element.getAttribute("aria-label")?.trim() ||
      by.map((id) => document.getElementById(id)?.textContent ?? "").join("").trim() ||
      [...(element.labels ?? [])].map(this.text).join("") ||
      (!element.matches("input, select, textarea") &&
        (this.text(element) || pictured.map((one) => one.getAttribute("aria-label") || one.getAttribute("alt")).join("")))
    );
  },

  nameless() {
    const controls =
      "a[href], button, input:not([type=hidden]), select, textarea, summary, dialog, nav, " +
      "[role=button], [role=menuitem], [role=slider], [tabindex='0']";
    return [...document.querySelectorAll(controls)]
      .filter((one) => one.checkVisibility() && !one.closest("[aria-hidden=true]") && !this.named(one))
      .map((one) => `no name: ${one.outerHTML.slice(0, 160)}`);
  },

  doubles() {
    const ids = [...document.querySelectorAll("[id]")].map((element) => element.id);
    return ids.filter((id, index) => ids.indexOf(id) !== index).map((id) => `id twice: ${id}`);
  },

  broken() {
    const found = [];
    for (const name of ["aria-labelledby", "aria-describedby", "aria-controls", "for"]) {
      for (const element of document.querySelectorAll(`[${name}]`)) {
        const ids = element.getAttribute(name).split(" ").filter((id) => id && !document.getElementById(id));
        found.push(...ids.map((id) => `leads nowhere: ${name}=${id}`));
      }
    }
    return found;
  },

  unsound() {
    const count = (selector) => [...document.querySelectorAll(selector)].filter((one) => one.checkVisibility()).length;
    const wrong = [
      [document.querySelectorAll("main").length !== 1, "not one main part"],
      [count("h1") > 1, "several h1"],
      [!document.documentElement.lang, "no language"],
      [!document.title, "no title"],
      [[...document.querySelectorAll("[tabindex]")].some((one) => one.tabIndex > 0), "a tabindex above 0"],
      [count("img:not([alt])") > 0, "a picture without alt"],
    ];
    return wrong.filter(([yes]) => yes).map(([, words]) => words);
  },

  faults() {
    return [...this.nameless(), ...this.doubles(), ...this.broken(), ...this.unsound()];
  },

  /** Where the focus is, and whether it can be seen there. */
  focus() {
    const element = document.activeElement;
    const ringed = (style) =>
      (style.outlineStyle !== "none" && Number.parseFloat(style.outlineWidth) > 0) || style.boxShadow !== "none";
    const places = [element, element.parentElement].filter(Boolean);
    return {
      name: element.outerHTML.slice(0, 120),
      body: element === document.body,
      seen: places.some((one) => ringed(getComputedStyle(one)) || ringed(getComputedStyle(one, "::after"))),
      visible: element.checkVisibility() && element.getBoundingClientRect().width > 0,
      inside: Boolean(element.closest("dialog")),
    };
  },
})
