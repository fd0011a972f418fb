// A toolset in JavaScript. TypeScript is the same with types: name the file `hello.mts`.

const timeOfDay = {
  name: "time-of-day",
  description: "Tells whether it is morning, day or evening in a time zone, to choose a greeting",
  parameters: {
    type: "object",
    properties: {
      zone: { type: "string", description: "A name such as Europe/Paris" },
    },
    required: ["zone"],
    additionalProperties: false,
  },
  // A zone that does not exist throws a RangeError, which the model gets as the failure of the call.
  execute: ({ zone }) => {
    const format = new Intl.DateTimeFormat("en-GB", { timeZone: zone, hour: "2-digit", hourCycle: "h23" });
    const hour = Number(format.format(new Date()));
    return { title: `It is ${hour} o'clock`, metadata: { hour }, output: partOfDay(hour) };
  },
};

function partOfDay(hour) {
  if (hour >= 5 && hour < 11) return "morning";
  return hour >= 18 || hour < 5 ? "evening" : "day";
}

export const HelloToolset = [timeOfDay];
